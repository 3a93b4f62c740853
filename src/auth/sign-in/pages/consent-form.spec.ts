import { DEMO_REGISTRY, RegistrySnapshot, type RegistryContents } from '#src/registry/index.js';
import { IDENTITY_SCOPES } from '../../protocol/identity-scopes.js';
import { clientTitle, consentChoices, consentFields, signedInUser } from './consent-form.js';
import { SCOPE_TEXT } from './scope-text.js';

const demo = new RegistrySnapshot(DEMO_REGISTRY, 1);
const alice = demo.userByName('alice')!;
const ALL = [
  'jobs:read',
  'jobs:submit',
  'jobs:kill',
  'catalogue:read',
  'catalogue:write',
  'webhooks',
];

/** The choices with the names of the groups in their place. */
function choices(registry: RegistrySnapshot, user: string, asked: object): unknown {
  const answer = consentChoices(registry, registry.userByName(user)!, asked);
  const groups = answer.groups.map(({ group, scopes }) => [group.name, scopes]);
  return { ...answer, groups };
}

function registryWith(change: Partial<RegistryContents>): RegistrySnapshot {
  return new RegistrySnapshot({ ...DEMO_REGISTRY, ...change }, 2);
}

/** The lines of a page without their indents. */
const page = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

describe('what a person may choose', () => {
  it('is every group and setup, the first of each chosen unless the application asks', () => {
    const groups = [
      ['grid_user', ALL],
      ['grid_share', ALL],
    ];
    const setups = ['Prod', 'Test'];
    const first = { groups, identity: [], setups, chosenGroup: 'grid_user', chosenSetup: 'Prod' };
    expect(choices(demo, 'alice', {})).toEqual(first);
    expect(choices(demo, 'alice', { group: 'grid_mon', setup: 'None' })).toEqual(first);
    expect(choices(demo, 'alice', { group: 'grid_share', setup: 'Test' })).toEqual({
      ...first,
      chosenGroup: 'grid_share',
      chosenSetup: 'Test',
    });
  });

  it('leaves out groups that allow nothing of what is asked', () => {
    expect(choices(demo, 'mona', { scope: 'jobs:read jobs:kill' })).toMatchObject({
      groups: [['grid_mon', ['jobs:read']]],
      chosenGroup: 'grid_mon',
    });
    expect(choices(demo, 'mona', { scope: 'jobs:kill' })).toEqual({
      groups: [],
      identity: [],
      setups: ['Prod', 'Test'],
      chosenGroup: undefined,
      chosenSetup: 'Prod',
    });
  });

  it('is every group when it is asked only who somebody is', () => {
    expect(choices(demo, 'alice', { scope: 'openid email' })).toEqual({
      groups: [
        ['grid_user', []],
        ['grid_share', []],
      ],
      identity: ['openid', 'email'],
      setups: ['Prod', 'Test'],
      chosenGroup: 'grid_user',
      chosenSetup: 'Prod',
    });
    expect(choices(demo, 'alice', { scope: 'email' })).toMatchObject({ groups: [] });
  });

  it('leaves out groups without any setup', () => {
    const setups = [{ name: 'Prod', groups: ['grid_share', 'grid_mon'] }];
    expect(choices(registryWith({ setups }), 'alice', {})).toEqual({
      groups: [['grid_share', ALL]],
      identity: [],
      setups: ['Prod'],
      chosenGroup: 'grid_share',
      chosenSetup: 'Prod',
    });
    expect(choices(registryWith({ setups: [] }), 'alice', {})).toEqual({
      groups: [],
      identity: [],
      setups: [],
      chosenGroup: undefined,
      chosenSetup: undefined,
    });
  });
});

describe('the form of consent', () => {
  it('names all rights in words, and those of each group beside it', () => {
    const registry = registryWith({
      groups: DEMO_REGISTRY.groups.map((group) =>
        group.name === 'grid_share' ? { ...group, properties: new Set(['JobMonitor']) } : group,
      ),
      setups: [{ name: 'Prod' }, { name: '<b>' }],
    });
    const form = consentFields(
      consentChoices(registry, alice, { group: 'grid_share', setup: '<b>' }),
    );
    expect(page(form.text)).toEqual(
      page(`
        <h2>It will be able to</h2>
        <ul class="rights">
        <li>See your jobs and their output</li><li>Submit jobs for you</li><li>Kill your jobs</li><li>Read the file catalogue</li><li>Change the file catalogue for you</li><li>Have changes that you may see sent to other services</li>
        </ul>
        <fieldset>
        <legend>In the name of which group?</legend>
        <label class="choice">
        <input type="radio" name="group" value="grid_user" required>
        <span>grid_user<small>see jobs, submit jobs, kill jobs, read the catalogue, change the catalogue, send changes elsewhere</small></span>
        </label><label class="choice">
        <input type="radio" name="group" value="grid_share" required checked>
        <span>grid_share<small>see jobs, read the catalogue, send changes elsewhere</small></span>
        </label>
        </fieldset>
        <fieldset>
        <legend>In which setup?</legend>
        <label class="choice">
        <input type="radio" name="setup" value="Prod" required>
        <span>Prod</span>
        </label><label class="choice">
        <input type="radio" name="setup" value="&lt;b&gt;" required checked>
        <span>&lt;b&gt;</span>
        </label>
        </fieldset>
        <div class="actions">
        <button type="submit" name="decision" value="allow">Allow</button>
        <button type="submit" name="decision" value="deny" class="plain" formnovalidate>Deny</button>
        </div>
        <div class="actions">
        <button type="submit" name="decision" value="another" class="plain" formnovalidate>Use another account</button>
        </div>`),
    );
  });

  it('names only rights that some group would give', () => {
    const form = consentFields(consentChoices(demo, alice, { scope: 'jobs:kill' }));
    expect(form.text.match(/<li>.*<\/li>/g)).toEqual(['<li>Kill your jobs</li>']);
    expect(Object.keys(SCOPE_TEXT)).toEqual([...ALL, 'admin', ...IDENTITY_SCOPES]);
  });

  it('says who is signed in and who asks', () => {
    expect(page(signedInUser(alice).text)).toEqual(
      page(`
        <div class="who">
        <span class="badge" aria-hidden="true">a</span>
        <div><b>alice</b><span class="soft">/DC=org/DC=grid/CN=alice</span></div>
        </div>`),
    );
    expect(signedInUser({ ...alice, certificates: [] }).text).toContain(
      '<span class="soft">signed in through an identity provider</span>',
    );
    const asking = { ...demo.client('demo-portal')!, name: 'Us & them' };
    expect(clientTitle(asking).text).toBe('<h1>Us &amp; them asks for access</h1>');
  });
});

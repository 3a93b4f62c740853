import type { Client, Group, RegistrySnapshot, User } from '#src/registry/index.js';
import { groupScopes, readScopes, scopeWords } from '../../protocol/grid-scopes.js';
import { identityScopes, type IdentityScope } from '../../protocol/identity-scopes.js';
import { scopeText, scopeWord } from './scope-text.js';
import { markup, type Html } from './html.js';

/** What somebody can choose between when an application asks. */
export interface ConsentChoices {
  groups: { group: Group; scopes: string[] }[];
  /** What the application asks to know, whatever the group. */
  identity: IdentityScope[];
  setups: string[];
  chosenGroup?: string | undefined;
  chosenSetup?: string | undefined;
}

/** Groups of the user that allow something of what is asked, and the setups that go with any of them. */
export function consentChoices(
  registry: RegistrySnapshot,
  user: User,
  asked: { scope?: string | undefined; group?: string | undefined; setup?: string | undefined },
): ConsentChoices {
  const identity = identityScopes(asked.scope);
  const setups = registry.setupsOf(user.name).map(({ name }) => name);
  const groups = registry
    .groupsOf(user.name)
    .map((group) => ({
      group,
      scopes: groupScopes(group, scopeWords(asked.scope)).map(({ word }) => word),
    }))
    .filter(({ group, scopes }) => {
      const hasSetup = setups.some((setup) => registry.mayUseSetup(group.name, setup));
      return (scopes.length > 0 || identity.includes('openid')) && hasSetup;
    });
  const names = groups.map(({ group }) => group.name);
  return {
    groups,
    identity,
    setups,
    chosenGroup: names.find((name) => name === asked.group) ?? names[0],
    chosenSetup: setups.find((name) => name === asked.setup) ?? setups[0],
  };
}

/** Who is signed in, with initial and DN. */
export function signedInUser(user: User): Html {
  const dn = user.certificates[0]?.subject ?? 'signed in through an identity provider';
  return markup`<div class="who">
      <span class="badge" aria-hidden="true">${user.name.slice(0, 1)}</span>
      <div><b>${user.name}</b><span class="soft">${dn}</span></div>
    </div>`;
}

/** The part of a form in which group and setup are chosen and the decision is made, or somebody says that they are another. */
export function consentFields(choices: ConsentChoices): Html {
  const ofGroups = choices.groups.flatMap(({ scopes }) => scopes);
  const rights = [...new Set(readScopes([...ofGroups, ...choices.identity]).map(scopeText))];
  return markup`<h2>It will be able to</h2>
    <ul class="rights">
      ${rights.map((text) => markup`<li>${text}</li>`)}
    </ul>
    <fieldset>
      <legend>In the name of which group?</legend>
      ${choices.groups.map(({ group, scopes }) =>
        radio('group', group.name, {
          isChosen: group.name === choices.chosenGroup,
          note: [...new Set(readScopes(scopes).map(scopeWord))].join(', '),
        }),
      )}
    </fieldset>
    <fieldset>
      <legend>In which setup?</legend>
      ${choices.setups.map((setup) => radio('setup', setup, { isChosen: setup === choices.chosenSetup }))}
    </fieldset>
    <div class="actions">
      <button type="submit" name="decision" value="allow">Allow</button>
      <button type="submit" name="decision" value="deny" class="plain" formnovalidate>Deny</button>
    </div>
    <div class="actions">
      <button type="submit" name="decision" value="another" class="plain" formnovalidate>Use another account</button>
    </div>`;
}

/** The heading: which application asks. */
export function clientTitle(client: Client): Html {
  return markup`<h1>${client.name} asks for access</h1>`;
}

function radio(name: string, value: string, options: { isChosen: boolean; note?: string }): Html {
  const checked = options.isChosen ? markup` checked` : undefined;
  const note = options.note ? markup`<small>${options.note}</small>` : undefined;
  return markup`<label class="choice">
        <input type="radio" name="${name}" value="${value}" required${checked}>
        <span>${value}${note}</span>
      </label>`;
}

import type { Principal, Property } from '#src/auth/index.js';
import type { Config } from '#src/config/index.js';
import type { RegistryService } from '#src/registry/index.js';
import type { CatalogueNames } from '../names/catalogue-names.service.js';
import { CataloguePolicy, type Actor, type Reach } from './catalogue.policy.js';

const NUMBERS: Record<string, number> = {
  'user root': 1,
  'group root': 2,
  'user alice': 10,
  'group grid_user': 20,
};

/** Only numbers are looked up here; `ensure` gives every new name 99. */
const names = {
  find: (kind: string, name: string) => Promise.resolve(NUMBERS[`${kind} ${name}`] ?? -1),
  ensure: (kind: string, [name = '']: string[]) =>
    Promise.resolve(new Map([[name, NUMBERS[`${kind} ${name}`] ?? 99]])),
} as unknown as CatalogueNames;

/** The virtual organisations of the registry; they may change. */
let vos = ['vo', 'else'];
const registry = { current: () => Promise.resolve({ vos }) } as unknown as RegistryService;

const policyOf = (
  catalogueGlobalRead: Config['catalogueGlobalRead'],
  from = names,
): CataloguePolicy => new CataloguePolicy(from, { catalogueGlobalRead }, registry);
const policy = policyOf('false');
const open = policyOf('true');
const shared = policyOf('vo');

function principal(properties: Property[], vo?: string, name = 'alice'): Principal {
  return {
    user: name,
    dn: '',
    group: 'grid_user',
    setup: 'Prod',
    ...(vo !== undefined && { vo }),
    properties: new Set(properties),
    scopes: new Set(),
    clientId: 'certificate',
    userGroups: ['grid_user'],
  };
}

const user = principal(['NormalUser'], 'vo');
const managerOfVo = principal(['FileCatalogManagement'], 'vo');
const manager = principal(['FileCatalogManagement']);
const service = principal(['FileCatalogManagement', 'ServiceAdministrator'], 'vo');

const NUMBER = { userId: 10, groupId: 20 };
const UNKNOWN_ID = { userId: -1, groupId: -1 };
const NONE = new Set<string>();
/** No border, that of `vo`, and that of nobody. */
const OPEN = { readsAll: true, opened: NONE, closed: NONE };
const IN_VO = { readsAll: false, opened: NONE, closed: new Set(['/else']) };
const ALL_CLOSED = { readsAll: false, opened: NONE, closed: new Set(['/vo', '/else']) };

describe('actors of the catalogue', () => {
  it('read by their numbers, with the part that they rule, and nothing of other organisations', async () => {
    expect(await policy.readerOf(user)).toEqual({ ...NUMBER, ...IN_VO });
    const ruler = { ...NUMBER, managedPath: '/vo', ...IN_VO };
    expect(await policy.readerOf(managerOfVo)).toEqual(ruler);
    const stranger = { userId: -1, groupId: 20, ...IN_VO };
    expect(await policy.readerOf({ ...user, user: 'stranger' })).toEqual(stranger);
  });

  it('read everything of their own organisation where it is shared', async () => {
    const opened = new Set(['/vo']);
    expect(await shared.readerOf(user)).toEqual({ ...NUMBER, ...IN_VO, opened });
    expect(await shared.lookedUp(user)).toEqual({ ...NUMBER, ...IN_VO, opened });
    expect(await shared.writerOf(user)).toEqual({ ...NUMBER, ...IN_VO, opened });
  });

  it.each<[Property[], string | undefined, string[]]>([
    [['NormalUser'], undefined, []],
    [[], undefined, []],
    [['NormalUser', 'JobMonitor'], undefined, ['/vo', '/else']],
    [['NormalUser', 'ServiceAdministrator'], 'vo', ['/vo', '/else']],
    [['NormalUser', 'JobMonitor'], 'else', ['/else']],
    [['NormalUser'], 'gone', []],
  ])('with %j in %s reach %j', async (properties, vo, reached) => {
    const reader = await shared.readerOf(principal(properties, vo));
    const closed = ['/vo', '/else'].filter((path) => !reached.includes(path));
    expect([[...reader.opened], [...reader.closed]]).toEqual([reached, closed]);
    const guarded = await policy.readerOf(principal(properties, vo));
    expect([[...guarded.opened], [...guarded.closed]]).toEqual([[], closed]);
  });

  it('are kept from an organisation as soon as the registry has it', async () => {
    vos = ['vo', 'else', 'new'];
    const { closed } = await shared.readerOf(user);
    vos = ['vo', 'else'];
    expect(closed).toEqual(new Set(['/else', '/new']));
  });

  it('need no numbers where nothing is left to bits', async () => {
    for (const everywhere of [manager, service]) {
      const reader = { ...UNKNOWN_ID, managedPath: '/', ...OPEN };
      expect(await policy.readerOf(everywhere)).toEqual(reader);
    }
    expect(await open.readerOf(user)).toEqual({ ...UNKNOWN_ID, ...OPEN });
    const ruler = { ...UNKNOWN_ID, managedPath: '/vo', ...OPEN };
    expect(await open.readerOf(managerOfVo)).toEqual(ruler);
    const member = { ...UNKNOWN_ID, ...IN_VO, opened: new Set(['/vo']) };
    expect(await shared.readerOf(user, '/vo/a')).toEqual(member);
    expect(await shared.readerOf(user, '/else')).toEqual(member);
    expect(await shared.readerOf(user, '/demo')).toEqual({ ...member, ...NUMBER });
  });

  it('write under numbers of their own', async () => {
    expect(await policy.writerOf(user)).toEqual({ ...NUMBER, ...IN_VO });
    expect(await open.writerOf(user)).toEqual({ ...NUMBER, ...OPEN });
    const ruler = { ...NUMBER, managedPath: '/vo', ...IN_VO };
    expect(await policy.writerOf(managerOfVo)).toEqual(ruler);
    expect(await policy.writerOf(manager)).toEqual({ ...NUMBER, managedPath: '/', ...OPEN });
    const beginner = { userId: 99, groupId: 20, ...IN_VO };
    expect(await policy.writerOf(principal([], 'vo', 'new'))).toEqual(beginner);
    const forgetful = { ensure: () => Promise.resolve(new Map()) } as unknown as CatalogueNames;
    expect(await policyOf('false', forgetful).writerOf(user)).toEqual({ ...UNKNOWN_ID, ...IN_VO });
  });

  it('are root where the service itself acts', async () => {
    const root = { userId: 1, groupId: 2, managedPath: '/', ...OPEN };
    expect(await policy.systemActor()).toEqual(root);
  });
});

describe('what is decided before the bits', () => {
  const member: Actor = { ...NUMBER, ...IN_VO, opened: new Set(['/vo']) };

  it.each<[string, Reach, Reach, Reach, Reach]>([
    ['/', 'bits', 'bits', 'bits', 'everything'],
    ['/vo', 'everything', 'bits', 'nothing', 'everything'],
    ['/vo/a/b', 'everything', 'bits', 'nothing', 'everything'],
    ['/else', 'nothing', 'nothing', 'nothing', 'everything'],
    ['/else/vo', 'nothing', 'nothing', 'nothing', 'everything'],
    ['/else2', 'bits', 'bits', 'bits', 'everything'],
    ['/demo/else', 'bits', 'bits', 'bits', 'everything'],
  ])('of %s is %s, with bits in the own organisation %s, without one %s', (path, ...reach) => {
    const actors: Actor[] = [member, { ...NUMBER, ...IN_VO }, { ...NUMBER, ...ALL_CLOSED }];
    const all = [...actors, { ...NUMBER, ...OPEN }];
    expect(all.map((actor) => policy.reach(actor, path))).toEqual(reach);
  });

  it('is everything for the manager of the place', () => {
    const ruler = { ...NUMBER, ...IN_VO, managedPath: '/vo' };
    expect(['/vo/a', '/else/a'].map((path) => policy.reach(ruler, path))).toEqual([
      'everything',
      'nothing',
    ]);
  });
});

describe('what the bits say', () => {
  const owner: Actor = { ...NUMBER, ...IN_VO };
  const member: Actor = { userId: 11, groupId: 20, ...IN_VO };
  const other: Actor = { userId: 11, groupId: 21, ...IN_VO };

  it.each([
    [0o400, [true, false, false], [false, false, false]],
    [0o200, [false, false, false], [true, false, false]],
    [0o040, [false, true, false], [false, false, false]],
    [0o020, [false, false, false], [false, true, false]],
    [0o004, [false, false, true], [false, false, false]],
    [0o002, [false, false, false], [false, false, true]],
    [0o111, [false, false, false], [false, false, false]],
    [0o777, [true, true, true], [true, true, true]],
  ])('%i: owner, group and others, each their own alone', (mode, read, write) => {
    const directory = { owner_id: 10, group_id: 20, mode };
    const actors = [owner, member, other];
    expect(actors.map((actor) => policy.mayRead(actor, directory))).toEqual(read);
    expect(actors.map((actor) => policy.mayWrite(actor, directory))).toEqual(write);
  });

  it('stops no reader of everything, and every writer', () => {
    const closed = { owner_id: 10, group_id: 20, mode: 0 };
    expect(policy.mayRead({ ...other, readsAll: true }, closed)).toBe(true);
    expect(policy.mayWrite({ ...other, readsAll: true }, closed)).toBe(false);
  });
});

describe('what FileCatalogManagement rules', () => {
  const nobody: Actor = { ...NUMBER, ...IN_VO };
  const everywhere: Actor = { ...nobody, managedPath: '/' };
  const inVo: Actor = { ...nobody, managedPath: '/vo' };

  it.each([
    ['/', [false, true, false]],
    ['/vo', [false, true, true]],
    ['/vo/a', [false, true, true]],
    ['/vo2', [false, true, false]],
    ['/a/vo/b', [false, true, false]],
  ])('%s belongs to nobody without it, to all above it, to its own VO', (path, ruled) => {
    const actors = [nobody, everywhere, inVo];
    expect(actors.map((actor) => policy.manages(actor, path))).toEqual(ruled);
    expect(actors.map((actor) => policy.mayChangeOwner(actor, path))).toEqual(ruled);
    const foreign = { owner_id: 11, group_id: 20, mode: 0o777 };
    expect(actors.map((actor) => policy.mayChangeMode(actor, path, foreign))).toEqual(ruled);
    const own = { ...foreign, owner_id: 10 };
    expect(actors.every((actor) => policy.mayChangeMode(actor, path, own))).toBe(true);
  });

  it('lets every manager declare fields, and delete them only who rules everything', () => {
    const actors = [nobody, inVo, everywhere];
    expect(actors.map((actor) => policy.mayDeclareFields(actor))).toEqual([false, true, true]);
    expect(actors.map((actor) => policy.mayDeleteFields(actor))).toEqual([false, false, true]);
  });
});

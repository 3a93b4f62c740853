import type { Principal, Property } from '#src/auth/index.js';
import type { Config } from '#src/platform/index.js';
import type { CatalogueNames } from '../names/catalogue-names.service.js';
import { CataloguePolicy, type Actor } from './catalogue.policy.js';

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

const policyOf = (catalogueGlobalRead: boolean, from = names): CataloguePolicy =>
  new CataloguePolicy(from, { catalogueGlobalRead } as Config);
const policy = policyOf(false);
const open = policyOf(true);

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

describe('actors of the catalogue', () => {
  it('read by their numbers, with the part that they rule', async () => {
    expect(await policy.readerOf(user)).toEqual({ ...NUMBER, readsAll: false });
    expect(await policy.readerOf(managerOfVo)).toEqual({
      ...NUMBER,
      managedPath: '/vo',
      readsAll: false,
    });
    expect(await policy.readerOf({ ...user, user: 'stranger' })).toEqual({
      userId: -1,
      groupId: 20,
      readsAll: false,
    });
  });

  it('need no numbers where they read everything', async () => {
    for (const everywhere of [manager, service]) {
      const reader = { ...UNKNOWN_ID, managedPath: '/', readsAll: true };
      expect(await policy.readerOf(everywhere)).toEqual(reader);
    }
    expect(await open.readerOf(user)).toEqual({ ...UNKNOWN_ID, readsAll: true });
    expect(await open.readerOf(managerOfVo)).toEqual({
      ...UNKNOWN_ID,
      managedPath: '/vo',
      readsAll: true,
    });
  });

  it('write under numbers of their own', async () => {
    expect(await policy.writerOf(user)).toEqual({ ...NUMBER, readsAll: false });
    expect(await open.writerOf(user)).toEqual({ ...NUMBER, readsAll: true });
    expect(await policy.writerOf(managerOfVo)).toEqual({
      ...NUMBER,
      managedPath: '/vo',
      readsAll: false,
    });
    expect(await policy.writerOf(manager)).toEqual({ ...NUMBER, managedPath: '/', readsAll: true });
    expect(await policy.writerOf(principal([], 'vo', 'new'))).toEqual({
      userId: 99,
      groupId: 20,
      readsAll: false,
    });
    const forgetful = { ensure: () => Promise.resolve(new Map()) } as unknown as CatalogueNames;
    expect(await policyOf(false, forgetful).writerOf(user)).toEqual({
      ...UNKNOWN_ID,
      readsAll: false,
    });
  });

  it('are root where the service itself acts', async () => {
    expect(await policy.systemActor()).toEqual({
      userId: 1,
      groupId: 2,
      managedPath: '/',
      readsAll: true,
    });
  });
});

describe('what the bits say', () => {
  const owner: Actor = { ...NUMBER, readsAll: false };
  const member: Actor = { userId: 11, groupId: 20, readsAll: false };
  const other: Actor = { userId: 11, groupId: 21, readsAll: false };

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
  const nobody: Actor = { ...NUMBER, readsAll: false };
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

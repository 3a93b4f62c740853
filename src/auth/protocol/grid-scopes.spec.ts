import { DEMO_REGISTRY, RegistrySnapshot, type Group } from '#src/registry/index.js';
import {
  claimedGroups,
  coversScope,
  groupPath,
  possibleScopes,
  readScope,
  readScopes,
  rightsOf,
  scopesOfRoutes,
  scopeWords,
  supportedScopes,
} from './grid-scopes.js';

const demo = new RegistrySnapshot(DEMO_REGISTRY, 1);
const users = demo.group('grid_user')!;
const words = (scopes: readonly { word: string }[]): string[] => scopes.map(({ word }) => word);

describe('the scopes that can be asked for', () => {
  it('are those that open something here, but for a few', () => {
    const others = ['wlcg', 'wlcg.groups', 'storage.poll:/', 'offline_access'];
    expect(supportedScopes().filter((word) => !scopesOfRoutes().includes(word))).toEqual(others);
    expect(supportedScopes()).toEqual(expect.arrayContaining(scopesOfRoutes()));
  });
});

describe('a word of a scope', () => {
  it.each([
    ['jobs:read', 'jobs:read'],
    ['compute.cancel', 'compute.cancel'],
    ['admin', 'admin'],
    ['wlcg', 'wlcg'],
    ['wlcg:1.0', 'wlcg:1.0'],
    ['wlcg.groups', 'wlcg.groups'],
    ['wlcg.groups:/vo/grid_user', 'wlcg.groups:/vo/grid_user'],
    ['storage.read:/', 'storage.read:/'],
    ['storage.create:/%76o/a', 'storage.create:/vo/a'],
    ['storage.modify:/vo/a/', 'storage.modify:/vo/a/'],
    ['storage.stage:/vo', 'storage.stage:/vo'],
    ['storage.poll:/vo', 'storage.poll:/vo'],
  ])('%s is known as %s', (word, known) => {
    expect(readScope(word)?.word).toBe(known);
  });

  it.each([
    ...['', 'nonsense', 'wlcg:2.0', 'wlcg.groups:', 'wlcg.groups:vo', 'wlcg.groupsX', 'compute.x'],
    ...[
      'storage.read',
      'storage.read:',
      'storage.read:vo',
      'storage.write:/vo',
      'storage.READ:/vo',
    ],
    ...['storage.read:/a/../b', 'storage.read:/a//b', 'constructor', 'Jobs:read', 'Admin'],
  ])('%j is unknown', (word) => {
    expect(readScope(word)).toBeUndefined();
  });

  it('stands once, those of ours first', () => {
    const asked = ['storage.read:/a', 'jobs:kill', 'x', 'storage.read:/%61', 'jobs:read', 'wlcg'];
    expect(words(readScopes(asked))).toEqual(['jobs:read', 'jobs:kill', 'storage.read:/a', 'wlcg']);
  });

  it.each([
    [undefined, undefined],
    ['', undefined],
    ['  ', undefined],
    [' a  b a', ['a', 'b']],
  ])('of %j', (scope, expected) => {
    expect(scopeWords(scope)).toEqual(expected);
  });

  it('beyond a hundred are left out', () => {
    const many = Array.from({ length: 101 }, (_, i) => `s${i}`);
    expect(scopeWords(many.join(' '))).toEqual(many.slice(0, 100));
  });
});

describe('scopes that a group may have', () => {
  const possible = (group: string, scope: string | undefined) =>
    words(possibleScopes(demo.group(group)!, scopeWords(scope))).join(' ');

  it.each([
    [
      'grid_user',
      undefined,
      'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks',
    ],
    ['grid_mon', 'compute.read compute.create compute.cancel compute.modify', 'compute.read'],
    ['grid_adm', 'compute.create compute.cancel compute.modify', 'compute.cancel compute.modify'],
    ['grid_mon', 'storage.read:/a storage.create:/a storage.modify:/a', 'storage.read:/a'],
    ['grid_mon', 'storage.stage:/a storage.poll:/a', 'storage.stage:/a storage.poll:/a'],
    ['grid_user', 'storage.modify:/a wlcg nonsense', 'storage.modify:/a wlcg'],
    ['grid_user', 'wlcg.groups', 'wlcg.groups'],
    ['grid_fc', 'wlcg.groups wlcg.groups:/vo/grid_user', ''],
    ['grid_user', 'nonsense', ''],
    ['grid_adm', undefined, 'jobs:read jobs:kill catalogue:read webhooks'],
    ['grid_adm', 'admin jobs:read', 'jobs:read admin'],
    ['grid_adm', 'admin', 'admin'],
    ['grid_user', 'admin jobs:read', 'jobs:read'],
    ['grid_fc', 'admin', ''],
  ])('%s of %j: %s', (group, scope, expected) => {
    expect(possible(group, scope)).toBe(expected);
  });
});

describe('what scopes allow on routes', () => {
  it.each([
    ['jobs:kill compute.read', ['jobs:kill', 'jobs:read']],
    [
      'compute.create compute.modify compute.cancel',
      ['jobs:submit', 'compute.modify', 'compute.cancel'],
    ],
    ['storage.create:/a', ['catalogue:read', 'catalogue:write']],
    ['storage.stage:/a storage.poll:/a wlcg wlcg.groups', ['catalogue:read']],
    ['storage.poll:/a', []],
    ['admin jobs:read', ['jobs:read', 'admin']],
  ])('%s: %j', (scope, rights) => {
    expect(rightsOf(readScopes(scopeWords(scope) ?? []))).toEqual(rights);
  });
});

describe('a scope holds another', () => {
  it.each([
    ['jobs:read', 'jobs:read', true],
    ['jobs:read', 'compute.read', true],
    ['compute.read', 'jobs:read', true],
    ['compute.create', 'jobs:submit', true],
    ['jobs:kill', 'compute.cancel', true],
    ['jobs:kill', 'compute.modify', true],
    ['compute.cancel', 'jobs:kill', false],
    ['compute.modify', 'jobs:kill', false],
    ['compute.cancel', 'compute.modify', false],
    ['jobs:read', 'jobs:kill', false],
    ['catalogue:read', 'storage.read:/a', false],
    ['storage.read:/', 'catalogue:read', false],
    ['storage.read:/a', 'storage.read:/a/b', true],
    ['storage.read:/a', 'storage.read:/ab', false],
    ['storage.read:/a/b', 'storage.read:/a', false],
    ['storage.read:/a', 'storage.poll:/a', false],
    ['storage.modify:/a', 'storage.create:/a/b', true],
    ['storage.create:/a', 'storage.modify:/a', false],
    ['storage.modify:/a', 'storage.read:/a', false],
    ['storage.stage:/a', 'storage.poll:/a', true],
    ['storage.stage:/a', 'storage.read:/a', false],
    ['storage.poll:/a', 'storage.stage:/a', false],
    ['wlcg.groups', 'wlcg.groups:/vo/x', true],
    ['jobs:read', 'wlcg.groups', false],
    ['jobs:read', 'wlcg', true],
    ['admin', 'admin', true],
    ['admin', 'jobs:read', false],
    ['jobs:kill', 'admin', false],
    ['storage.modify:/', 'admin', false],
  ])('%s holds %s: %s', (outer, inner, expected) => {
    expect(coversScope(readScope(outer)!, readScope(inner)!)).toBe(expected);
  });
});

describe('the claim wlcg.groups', () => {
  const ofUser = demo.groupsOf('alice');
  const claim = (scope: string, group: Group = users) =>
    claimedGroups(possibleScopes(group, scopeWords(scope)), { group, ofUser });

  it.each([
    ['jobs:read', undefined],
    ['wlcg.groups', ['/vo/grid_user', '/vo']],
    ['wlcg.groups:/vo/grid_share', ['/vo/grid_share', '/vo/grid_user', '/vo']],
    ['wlcg.groups:/vo wlcg.groups', ['/vo', '/vo/grid_user']],
    ['wlcg.groups wlcg.groups:/vo/grid_share', ['/vo/grid_user', '/vo', '/vo/grid_share']],
    ['wlcg.groups:/vo/grid_adm', ['/vo/grid_user', '/vo']],
    ['wlcg.groups:/other/grid_user wlcg.groups:/vo/', ['/vo/grid_user', '/vo']],
  ])('for %j is %j', (scope, expected) => {
    expect(claim(scope)).toEqual(expected);
  });

  it('is none for a group without virtual organisation, or with a name that others do not understand', () => {
    expect(claim('wlcg.groups', demo.group('grid_fc'))).toBeUndefined();
    expect(groupPath({ vo: 'v o', name: 'g' })).toBeUndefined();
    expect(groupPath({ vo: 'vo', name: '-g' })).toBeUndefined();
    expect(groupPath({ vo: 'vo', name: 'g.1-x' })).toBe('/vo/g.1-x');
  });
});

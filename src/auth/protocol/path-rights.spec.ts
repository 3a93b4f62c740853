import { readScopes } from './grid-scopes.js';
import { allowsBelow, allowsPath, pathRightsOf, type PathUse } from './path-rights.js';

const rightsOf = (scope: string) => pathRightsOf(readScopes(scope.split(' ')));

describe('where scopes hold in the catalogue', () => {
  it.each(['catalogue:read catalogue:write', 'jobs:read', 'wlcg compute.read', ''])(
    'everywhere, when none of them names a path: %j',
    (scope) => {
      expect(rightsOf(scope)).toBeUndefined();
    },
  );

  it.each<[string, string]>([
    ['storage.read:/a', 'read stat'],
    ['storage.create:/a', 'stat create'],
    ['storage.modify:/a', 'stat create change'],
    ['storage.stage:/a', 'stat'],
    ['storage.poll:/a', ''],
    ['storage.create:/a storage.read:/a', 'read stat create'],
    ['storage.poll:/a catalogue:read', 'read stat'],
    ['storage.poll:/a catalogue:write', 'create change'],
  ])('%s allows at its path: %s', (scope, expected) => {
    const uses: PathUse[] = ['read', 'stat', 'create', 'change'];
    const rights = rightsOf(scope);
    const at = (path: string) =>
      uses.filter((use) => allowsPath(rights, use, { path, kind: 'file' })).join(' ');
    expect([at('/a'), at('/a/b')]).toEqual([expected, expected]);
    const everywhere = scope.includes('catalogue:') ? expected : '';
    expect([at('/ab'), at('/'), at('/b/a')]).toEqual(Array(3).fill(everywhere));
  });

  it('a slash at the end means the directory and no file of its name', () => {
    const rights = rightsOf('storage.read:/a/');
    expect(allowsPath(rights, 'read', { path: '/a', kind: 'file' })).toBe(false);
    expect(allowsPath(rights, 'read', { path: '/a', kind: 'directory' })).toBe(true);
    expect(allowsPath(rights, 'read', { path: '/a/b', kind: 'file' })).toBe(true);
  });

  it.each([
    ['/', true],
    ['/a', true],
    ['/a/b', false],
    ['/a/b/c', false],
    ['/ab', false],
  ])('%s leads to /a/b: %s', (path, expected) => {
    expect(allowsBelow(rightsOf('storage.create:/a/b'), 'create', path)).toBe(expected);
    expect(allowsBelow(rightsOf('storage.create:/a/b'), 'change', path)).toBe(false);
    expect(allowsBelow(undefined, 'create', path)).toBe(true);
  });
});

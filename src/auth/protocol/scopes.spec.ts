import { DEMO_REGISTRY, RegistrySnapshot, type Property } from '#src/registry/index.js';
import { knownScopes, narrowScopes, SCOPES, scopesOf } from './scopes.js';

const demo = new RegistrySnapshot(DEMO_REGISTRY, 1);

describe('scopes of a group', () => {
  it.each<[Property, string]>([
    ['NormalUser', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write'],
    ['JobMonitor', 'jobs:read catalogue:read'],
    ['JobAdministrator', 'jobs:read jobs:kill catalogue:read'],
    ['FileCatalogManagement', 'catalogue:read catalogue:write'],
    ['JobSharing', ''],
    ['ServiceAdministrator', ''],
  ])('%s alone allows "%s"', (property, scopes) => {
    expect(scopesOf(new Set([property])).join(' ')).toBe(scopes);
  });

  it('come in one order, whatever the order of the properties', () => {
    const properties = new Set<Property>(['FileCatalogManagement', 'JobAdministrator']);
    const scopes = ['jobs:read', 'jobs:kill', 'catalogue:read', 'catalogue:write'];
    expect(scopesOf(properties)).toEqual(scopes);
    expect(SCOPES.filter((scope) => scope !== 'jobs:submit')).toEqual(scopes);
  });

  it.each([
    ['grid_user', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write'],
    ['grid_share', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write'],
    ['grid_mon', 'jobs:read catalogue:read'],
    ['grid_adm', 'jobs:read jobs:kill catalogue:read'],
    ['grid_fc', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write'],
  ])('%s allows %s', (name, scopes) => {
    expect(scopesOf(demo.group(name)!.properties).join(' ')).toBe(scopes);
  });

  it('narrows to what was asked and is allowed', () => {
    const group = demo.group('grid_mon')!;
    expect(narrowScopes(group, undefined)).toEqual(['jobs:read', 'catalogue:read']);
    expect(narrowScopes(group, 'jobs:submit jobs:read nonsense')).toEqual(['jobs:read']);
    expect(narrowScopes(group, 'jobs:submit')).toEqual([]);
    expect(narrowScopes(group, '  ')).toEqual(['jobs:read', 'catalogue:read']);
  });

  it('allows nothing without a property that grants something', () => {
    expect(scopesOf(new Set(['JobSharing', 'ServiceAdministrator']))).toEqual([]);
  });
});

describe('known scopes', () => {
  it.each([
    [undefined, undefined],
    ['', []],
    ['nonsense', []],
    ['catalogue:read x jobs:read', ['jobs:read', 'catalogue:read']],
  ])('of %j are %j', (asked, known) => {
    expect(knownScopes(asked)).toEqual(known);
  });
});

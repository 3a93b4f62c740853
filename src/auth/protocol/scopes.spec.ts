import { DEMO_REGISTRY, RegistrySnapshot, type Property } from '#src/registry/index.js';
import { ADMIN_SCOPE, SCOPES, scopesOf } from './scopes.js';

const PROPERTIES = DEMO_REGISTRY.groups.flatMap((group) => [...group.properties]);

const demo = new RegistrySnapshot(DEMO_REGISTRY, 1);

describe('scopes of a group', () => {
  it.each<[Property, string]>([
    ['NormalUser', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks'],
    ['JobMonitor', 'jobs:read catalogue:read webhooks'],
    ['JobAdministrator', 'jobs:read jobs:kill catalogue:read webhooks'],
    ['FileCatalogManagement', 'catalogue:read catalogue:write webhooks'],
    ['JobSharing', ''],
    ['ServiceAdministrator', ''],
  ])('%s alone allows "%s"', (property, scopes) => {
    expect(scopesOf(new Set([property])).join(' ')).toBe(scopes);
  });

  it('come in one order, whatever the order of the properties', () => {
    const properties = new Set<Property>(['FileCatalogManagement', 'JobAdministrator']);
    const scopes = ['jobs:read', 'jobs:kill', 'catalogue:read', 'catalogue:write', 'webhooks'];
    expect(scopesOf(properties)).toEqual(scopes);
    expect(SCOPES.filter((scope) => scope !== 'jobs:submit')).toEqual(scopes);
  });

  it.each([
    ['grid_user', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks'],
    ['grid_share', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks'],
    ['grid_mon', 'jobs:read catalogue:read webhooks'],
    ['grid_adm', 'jobs:read jobs:kill catalogue:read webhooks'],
    ['grid_fc', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks'],
  ])('%s allows %s', (name, scopes) => {
    expect(scopesOf(demo.group(name)!.properties).join(' ')).toBe(scopes);
  });

  it('never has the scope of administration, which is asked for by name', () => {
    const all = new Set<Property>(PROPERTIES);
    expect(scopesOf(all)).toEqual(SCOPES);
    expect(SCOPES).not.toContain(ADMIN_SCOPE);
  });

  it('allows nothing without a property that grants something', () => {
    expect(scopesOf(new Set(['JobSharing', 'ServiceAdministrator']))).toEqual([]);
  });
});

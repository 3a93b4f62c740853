import type { Group, RegistryContents, User } from './registry.types.js';
import type { Property } from './property.js';

/** The registry that the service starts with when nothing else is said. */
export const DEMO_REGISTRY: RegistryContents = {
  users: ['alice', 'bob', 'carol', 'mona', 'adam', 'fred'].map(demoUser),
  groups: [
    demoGroup('grid_user', ['NormalUser'], ['alice', 'bob', 'carol']),
    demoGroup('grid_share', ['NormalUser', 'JobSharing'], ['alice', 'bob']),
    demoGroup('grid_mon', ['JobMonitor'], ['mona']),
    demoGroup('grid_adm', ['JobAdministrator', 'ServiceAdministrator'], ['adam']),
    // Of no virtual organisation: fred looks after the whole catalogue, `/demo` included.
    {
      name: 'grid_fc',
      properties: new Set(['NormalUser', 'FileCatalogManagement']),
      members: ['fred'],
      idpScopes: [],
    },
  ],
  setups: [{ name: 'Prod' }, { name: 'Test' }],
  applications: [
    {
      id: 'demo-portal',
      name: 'Demo portal',
      redirectUris: ['http://localhost:8900/callback'],
      postLogoutRedirectUris: ['http://localhost:8900/callback'],
      confidential: false,
      origin: 'file',
    },
  ],
  storageElements: [{ name: 'SE-A' }, { name: 'SE-B' }],
  sites: [
    { name: 'LOCAL.demo', backend: 'local-process', options: {} },
    { name: 'LOCAL.spare', backend: 'local-process', options: {} },
  ],
  shares: [],
};

function demoUser(name: string): User {
  return {
    name,
    fullName: `${name.slice(0, 1).toUpperCase()}${name.slice(1)} Example`,
    email: `${name}@example.org`,
    certificates: [{ subject: `/DC=org/DC=grid/CN=${name}` }],
    subjects: [],
  };
}

function demoGroup(name: string, properties: Property[], members: string[]): Group {
  return { name, vo: 'vo', properties: new Set(properties), members, idpScopes: [] };
}

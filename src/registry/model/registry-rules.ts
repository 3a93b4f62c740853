import { certificateKey } from './user-certificate.js';
import { PROPERTIES } from './property.js';
import { clientFaults } from './client-rules.js';
import { isSameOrWithin } from './site-connection.js';
import { addressFaults } from './storage-element.js';
import type { RegistryContents, User } from './registry.types.js';

/** One fault of a registry: where it is (path in the file) and what is wrong. */
export interface RegistryFault {
  path: (string | number)[];
  problem: string;
}

/** Rules that look at the registry as a whole: references must exist, identities belong to one user. */
export function faultsOf(contents: RegistryContents): RegistryFault[] {
  return [
    ...repeatedIdentities(contents),
    ...openCertificates(contents),
    ...subjectsOfClients(contents),
    ...nameFaults(contents),
    ...memberFaults(contents),
    ...organisationFaults(contents),
    ...setupFaults(contents),
    ...shareFaults(contents),
    ...limitFaults(contents),
    ...connectionFaults(contents),
    ...storageFaults(contents),
    ...applicationFaults(contents),
  ];
}

function repeatedIdentities({ users }: RegistryContents): RegistryFault[] {
  const owners = new Map<string, string>();
  const faults: RegistryFault[] = [];
  const claim = (key: string, user: string, place: (string | number)[]): void => {
    const owner = owners.get(key);
    if (owner === undefined) owners.set(key, user);
    else {
      const way = `enable ${owner} first, or give ${owner} no certificates and \`disabled: true\` here`;
      const hint = disabled.has(owner) ? `, who is disabled and stays: ${way}` : '';
      faults.push({
        path: ['users', user, ...place],
        problem: `belongs to ${owner} already${hint}`,
      });
    }
  };
  // Those who are disabled first: they may be there although a file leaves them out.
  const isDisabled = ({ disabled = false }: User): boolean => disabled;
  const disabled = new Set(users.filter(isDisabled).map(({ name }) => name));
  const ordered = [...users.filter(isDisabled), ...users.filter((user) => !isDisabled(user))];
  for (const { name, sub, certificates, subjects } of ordered) {
    if (sub !== undefined) claim(`sub ${sub}`, name, ['sub']);
    certificates.forEach(({ subject, issuer }, place) =>
      claim(`dn ${certificateKey(subject, issuer)}`, name, ['certificates', place]),
    );
    subjects.forEach(({ issuer, sub }, place) =>
      claim(`subject ${JSON.stringify([issuer, sub])}`, name, ['subjects', place]),
    );
  }
  return faults;
}

/** The subject of an application's own tokens is its client_id, which must be no user's (RFC 9068 §5). */
function subjectsOfClients({ users, applications }: RegistryContents): RegistryFault[] {
  const ids = new Set([STORAGE_CLIENT, ...applications.map(({ id }) => id)]);
  return users
    .filter(({ sub }) => sub !== undefined && ids.has(sub))
    .map(({ name }) => ({ path: ['users', name, 'sub'], problem: 'is the id of an application' }));
}

/** `client_id` and subject of the tokens by which the service itself opens storages: no application and no user has this name. */
export const STORAGE_CLIENT = 'gridgate-storage';

/** What the name of an application that acts for itself begins with, as the owner of jobs and files. */
export const APPLICATION_PREFIX = 'application:';

function nameFaults({ users }: RegistryContents): RegistryFault[] {
  return users
    .filter(({ name }) => name.startsWith(APPLICATION_PREFIX))
    .map(({ name }) => ({
      path: ['users', name],
      problem: `begins with ${APPLICATION_PREFIX}, which is for applications that act for themselves`,
    }));
}

/** A virtual organisation owns the directory of its name, so it must be a name of a directory. */
function organisationFaults({ groups }: RegistryContents): RegistryFault[] {
  const isName = (vo: string): boolean =>
    // eslint-disable-next-line no-control-regex -- they are what is refused
    /^[^/\u0000-\u001f\u007f]{1,255}$/.test(vo) && vo !== '.' && vo !== '..';
  return groups
    .filter(({ vo }) => vo !== undefined && !isName(vo))
    .map(({ name }) => ({ path: ['groups', name, 'vo'], problem: 'is no name of a directory' }));
}

/** A DN that counts from every CA would take the certificates that another entry binds to one CA. */
function openCertificates({ users }: RegistryContents): RegistryFault[] {
  const entries = users.flatMap(({ name, certificates }) =>
    certificates.map((one, place) => ({ ...one, path: ['users', name, 'certificates', place] })),
  );
  const open = new Set(entries.flatMap((one) => (one.issuer === undefined ? [one.subject] : [])));
  return entries
    .filter(({ subject, issuer }) => issuer !== undefined && open.has(subject))
    .map(({ path }) => ({
      path,
      problem: 'stands elsewhere without an issuer: name one there too',
    }));
}

function memberFaults({ users, groups }: RegistryContents): RegistryFault[] {
  const known = new Set(users.map((user) => user.name));
  return groups.flatMap((group) => [
    ...wordFaults(['groups', group.name, 'members'], group.members, (member) =>
      known.has(member) ? undefined : `there is no user ${member}`,
    ),
    ...wordFaults(['groups', group.name, 'properties'], [...group.properties], (word) =>
      PROPERTIES.includes(word) ? undefined : `is not one of ${PROPERTIES.join(', ')}`,
    ),
  ]);
}

function setupFaults({ groups, setups, sites }: RegistryContents): RegistryFault[] {
  const groupNames = new Set(groups.map((group) => group.name));
  const setupNames = new Set(setups.map((setup) => setup.name));
  return [
    ...setups.flatMap((setup) =>
      wordFaults(['setups', setup.name, 'groups'], setup.groups ?? [], (group) =>
        groupNames.has(group) ? undefined : `there is no group ${group}`,
      ),
    ),
    ...sites.flatMap((site) => [
      ...wordFaults(['sites', site.name, 'setups'], site.setups ?? [], (setup) =>
        setupNames.has(setup) ? undefined : `there is no setup ${setup}`,
      ),
      ...wordFaults(['sites', site.name, 'vos'], site.vos ?? [], voFault(groups)),
      ...wordFaults(['sites', site.name, 'tags'], site.tags ?? [], () => undefined),
    ]),
  ];
}

function shareFaults({ groups, shares }: RegistryContents): RegistryFault[] {
  const known = new Set(groups.map(({ name }) => name));
  return shares
    .filter(({ name }) => !known.has(name))
    .map(({ name }) => ({ path: ['shares', name], problem: `there is no group ${name}` }));
}

function limitFaults({ sites }: RegistryContents): RegistryFault[] {
  return sites.flatMap(({ name, tags = [], limits }) =>
    Object.keys(limits?.tags ?? {})
      .filter((tag) => !tags.includes(tag))
      .map((tag) => ({
        path: ['sites', name, 'limits', 'tags', tag],
        problem: `the site has no tag ${tag}`,
      })),
  );
}

/** What runs at one site is looked after by that site alone: two in one directory would end each other's runs. */
function connectionFaults({ sites }: RegistryContents): RegistryFault[] {
  const seen: { name: string; directory: string }[] = [];
  return sites.flatMap(({ name, connection }) => {
    if (connection === undefined) return [];
    const directory = connection.workDirectory;
    const other = seen.find((one) => isSameOrWithin(one.directory, directory));
    seen.push({ name, directory });
    if (other === undefined) return [];
    const problem = `is also that of ${other.name}; each site with a connection needs its own`;
    return [{ path: ['sites', name, 'connection', 'workDirectory'], problem }];
  });
}

function storageFaults({ groups, storageElements }: RegistryContents): RegistryFault[] {
  return [
    ...storageElements.flatMap(({ name, vos = [] }) =>
      wordFaults(['storageElements', name, 'vos'], vos, voFault(groups)),
    ),
    ...addressFaults(storageElements).map(({ name, member, problem }) => ({
      path: ['storageElements', name, member],
      problem,
    })),
  ];
}

function voFault(groups: RegistryContents['groups']): (vo: string) => string | undefined {
  const vos = new Set(groups.map(({ vo }) => vo));
  return (vo) => (vos.has(vo) ? undefined : `no group is of the virtual organisation ${vo}`);
}

function wordFaults<T extends string>(
  path: (string | number)[],
  words: readonly T[],
  problemOf: (word: T) => string | undefined,
): RegistryFault[] {
  const seen = new Set<string>();
  return words.flatMap((word, place) => {
    const problem = seen.has(word) ? 'stands here twice' : problemOf(word);
    seen.add(word);
    return problem === undefined ? [] : [{ path: [...path, place], problem }];
  });
}

function applicationFaults({ applications, groups }: RegistryContents): RegistryFault[] {
  const groupNames = new Set(groups.map(({ name }) => name));
  return applications.flatMap((client) => {
    const { id, group, scopes = [], audiences = [] } = client;
    const isUnknown = group !== undefined && !groupNames.has(group);
    return [
      ...clientFaults(client).map(({ member, problem }) => ({
        path: ['applications', id, ...(member === undefined ? [] : [member])],
        problem,
      })),
      ...(isUnknown
        ? [{ path: ['applications', id, 'group'], problem: `there is no group ${group}` }]
        : []),
      ...wordFaults(['applications', id, 'scopes'], scopes, () => undefined),
      ...wordFaults(['applications', id, 'audiences'], audiences, () => undefined),
    ];
  });
}

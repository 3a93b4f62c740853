import { canonicalDn } from '#src/x509/index.js';
import type { SiteLimits } from '../model/limits.js';
import type { Property } from '../model/property.js';
import type {
  Client,
  Group,
  RegistryContents,
  Setup,
  Site,
  User,
  UserCertificate,
} from '../model/registry.types.js';
import type { StorageElement } from '../model/storage-element.js';
import { SECTIONS } from './registry-schema.js';
import { checkByFile, map, readYaml, YamlFileError } from './yaml-file.js';

/** A registry file that cannot be loaded: each fault with its path in the file and, where known, its line. */
export { YamlFileError as RegistryFileError };

type Section = keyof RegistryContents;
/** Items of the file, checked, by their names. */
type Bodies = Readonly<Record<string, never>>;

const NAMES = Object.keys(SECTIONS) as Section[];
const checkFile = checkByFile(map(SECTIONS));

/**
 * Reads the YAML text of a registry file: the sections it has, each complete. Throws RegistryFileError with every
 * fault of form; what refers to other items is checked when it is loaded.
 */
export function parseRegistryFile(text: string): Partial<RegistryContents> {
  const { value, namesOf } = readYaml(text, checkFile);
  const file = value as Partial<Record<Section, Bodies>>;
  return Object.fromEntries(
    NAMES.flatMap((section) => {
      const bodies = file[section];
      if (bodies === undefined) return [];
      return [[section, namesOf(section).map((name) => itemOf(section, name, bodies[name]))]];
    }),
  );
}

/** A section whose items can be read one by one. */
export type EntrySection = 'users' | 'groups' | 'sites';

/** One user, group or site, of what a file says of it. Throws RegistryFileError with every fault of form. */
export function readEntry<S extends EntrySection>(
  section: S,
  name: string,
  body: unknown,
): RegistryContents[S][number] {
  const entry = Object.defineProperty({}, name, { value: body, enumerable: true, writable: true });
  const faults = checkFile({ [section]: entry });
  if (faults.length > 0) throw new YamlFileError(faults);
  return itemOf(section, name, (entry as Bodies)[name]) as RegistryContents[S][number];
}

type Body<T, K extends keyof T = never> = Omit<T, 'name' | K> & Record<K, readonly string[]>;

/** The item of a body that the schema of its section lets through. */
const ITEMS: { [S in Section]: (name: string, body: never) => RegistryContents[S][number] } = {
  users: (name, body: Body<User>) =>
    withLimits({ ...body, name, certificates: body.certificates.map(canonical) }),
  groups: (name, body: Body<Group, 'properties'>) =>
    withLimits({ ...body, name, properties: new Set(body.properties as Property[]) }),
  setups: (name, body: Body<Setup>) => ({ ...body, name }),
  applications: (id, body: Omit<Client, 'id'>) => ({
    ...{ ...body, id, name: body.name ?? id, origin: 'file' },
    confidential: body.confidential ?? body.authentication !== undefined,
    ...(body.subjectDn !== undefined && { subjectDn: canonicalDn(body.subjectDn) }),
  }),
  storageElements: (name, body: Body<StorageElement>) => ({ ...body, name }),
  sites: (name, body: Body<Site>) => withLimits({ ...body, name }),
  shares: (name, weight: number) => ({ name, weight }),
};

function itemOf(section: Section, name: string, body: unknown): unknown {
  return ITEMS[section](name, body as never);
}

function canonical(written: string | UserCertificate): UserCertificate {
  if (typeof written === 'string') return { subject: canonicalDn(written) };
  const { subject, issuer } = written;
  return {
    subject: canonicalDn(subject),
    ...(issuer !== undefined && { issuer: canonicalDn(issuer) }),
  };
}

/** Without limits that limit nothing. */
function withLimits<T extends { readonly limits?: SiteLimits }>({ limits, ...item }: T): T {
  const { tags = {}, ...others } = limits ?? {};
  const given = { ...others, ...(Object.keys(tags).length > 0 && { tags }) };
  return { ...item, ...(Object.keys(given).length > 0 && { limits: given }) } as T;
}

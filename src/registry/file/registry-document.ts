import { parse, stringify } from 'yaml';
import { parseRegistryFile, RegistryFileError } from './registry-file.js';
import { writeRegistryFile } from './registry-writing.js';
import type { RegistryContents } from '../model/registry.types.js';

/** Users as the file says them. */
export interface UserEntry {
  sub?: string;
  fullName?: string;
  email?: string;
  certificates: (string | { subject: string; issuer?: string })[];
  subjects?: { issuer: string; sub: string }[];
  disabled?: true;
  [key: string]: unknown;
}

/** Groups as the file says them. */
export interface GroupEntry {
  vo?: string;
  properties: string[];
  members: string[];
  [key: string]: unknown;
}

/** The registry file as plain objects, to be changed in place. */
export interface RegistryDocument {
  users: Record<string, UserEntry>;
  groups: Record<string, GroupEntry>;
  setups: Record<string, { groups?: string[] }>;
  [section: string]: unknown;
}

/** The registry file of these contents as plain objects. */
function documentOf(contents: RegistryContents): RegistryDocument {
  return parse(writeRegistryFile(contents)) as RegistryDocument;
}

/** The contents after a change of users, groups and setups, read by the rules of the file. Throws RegistryFileError. */
export function editedContents(
  before: RegistryContents,
  change: (document: RegistryDocument) => void,
): Partial<RegistryContents> {
  const document = documentOf(before);
  change(document);
  const { users, groups, setups } = document;
  try {
    const sections = {
      users: inOrder(users, before.users),
      groups: inOrder(groups, before.groups),
      setups: inOrder(setups, before.setups),
    };
    return parseRegistryFile(stringify(sections));
  } catch (error) {
    // lines of a file that nobody has written say nothing
    throw error instanceof RegistryFileError ? new RegistryFileError(error.faults) : error;
  }
}

/** The items that were there in their order, then the others: an object has whole numbers first. */
function inOrder<T>(
  section: Record<string, T>,
  before: readonly { name: string }[],
): Map<string, T | undefined> {
  const known = before.map(({ name }) => name).filter((name) => Object.hasOwn(section, name));
  const names = new Set([...known, ...Object.keys(section)]);
  return new Map([...names].map((name) => [name, section[name]]));
}

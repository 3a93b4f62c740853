import { isMap, isScalar, LineCounter, parseDocument, stringify, type Document } from 'yaml';
import { FilePlace } from './file-place.js';
import { isSiteTag, SITE_TAG_FORM } from '../model/site-tag.js';
import { isProperty, PROPERTIES, type Property } from '../model/property.js';
import { redirectUriFault } from '../model/redirect-uri.js';
import type { RegistryFault } from '../model/registry-rules.js';
import type {
  Client,
  Group,
  RegistryContents,
  Setup,
  Site,
  SiteNetwork,
  StorageElement,
  User,
  UserCertificate,
} from '../model/registry.types.js';

/** A registry file that cannot be loaded: each fault with its path in the file and, where known, its line. */
export class RegistryFileError extends Error {
  constructor(
    readonly faults: readonly RegistryFault[],
    lineOf: (fault: RegistryFault) => number | undefined = () => undefined,
  ) {
    super(faults.map((fault) => faultText(fault, lineOf(fault))).join('\n'));
    this.name = 'RegistryFileError';
  }
}

const SECTIONS = [
  'users',
  'groups',
  'setups',
  'applications',
  'storageElements',
  'sites',
] as const satisfies (keyof RegistryContents)[];

const SITE_MEMBERS = [
  'backend',
  'slots',
  'setups',
  'processors',
  'ramMB',
  'gpus',
  'tags',
  'maxWallTime',
  'network',
  'options',
] as const;
const MAX_RAM_MB = 1_000_000_000;
const MAX_WALL_TIME_SECONDS = 366 * 86_400;

/**
 * Reads the YAML text of a registry file: the sections it has, each complete. Throws RegistryFileError with every
 * fault of form; what refers to other items is checked when it is loaded.
 */
export function parseRegistryFile(text: string): Partial<RegistryContents> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const lineOf = (fault: RegistryFault): number | undefined => lineAt(document, lines, fault.path);
  if (document.errors.length > 0) {
    throw new RegistryFileError(
      document.errors.map((error) => ({ path: [], problem: firstLine(error.message) })),
    );
  }
  const faults: RegistryFault[] = [];
  const contents = readSections(new FilePlace(plainValue(document, faults), [], faults));
  if (faults.length > 0) throw new RegistryFileError(faults, lineOf);
  return contents;
}

/** Writes the registry as YAML; reading it gives the same contents. */
export function writeRegistryFile(contents: RegistryContents): string {
  const named = <T extends { name: string }>(
    items: readonly T[],
    bodyOf: (item: T) => object,
  ): object => Object.fromEntries(items.map((item) => [item.name, bodyOf(item)]));
  const file = {
    users: named(contents.users, ({ certificates, subjects }) => ({
      certificates: certificates.map((one) => (one.issuer === undefined ? one.subject : one)),
      ...(subjects.length > 0 && { subjects }),
    })),
    groups: named(contents.groups, ({ vo, properties, members, idpScopes, idpRole }) => ({
      vo,
      properties: [...properties],
      members,
      ...(idpScopes.length > 0 && { idpScopes }),
      idpRole,
    })),
    setups: named(contents.setups, ({ groups }) => ({ groups })),
    applications: Object.fromEntries(
      contents.applications.map(({ id, name, redirectUris, confidential, secretHash }) => [
        id,
        { name, redirectUris, confidential, secretHash },
      ]),
    ),
    storageElements: named(contents.storageElements, ({ description }) => ({ description })),
    sites: named(contents.sites, siteBody),
  };
  return stringify(file, { aliasDuplicateObjects: false, lineWidth: 0 });
}

/** Members in one order, whatever order the database has answered; undefined ones are left out when it is written. */
function siteBody(site: Site): object {
  const options = Object.keys(site.options).length > 0 ? site.options : undefined;
  const body = { ...site, options };
  return Object.fromEntries(SITE_MEMBERS.map((member) => [member, body[member]]));
}

function readSections(root: FilePlace): Partial<RegistryContents> {
  const places = root.members(SECTIONS);
  const section = <T>(
    place: FilePlace,
    read: (name: string, place: FilePlace) => T,
  ): T[] | undefined =>
    place.isGiven ? place.items().map(([name, item]) => read(name, item)) : undefined;
  const contents = {
    users: section(places.users, readUser),
    groups: section(places.groups, readGroup),
    setups: section(places.setups, readSetup),
    applications: section(places.applications, readApplication),
    storageElements: section(places.storageElements, readStorageElement),
    sites: section(places.sites, readSite),
  };
  return withoutUndefined(contents);
}

function readUser(name: string, place: FilePlace): User {
  const { certificates, subjects } = place.members(['certificates', 'subjects']);
  return {
    name,
    certificates: certificates.elements().map(readCertificate),
    subjects: subjects.elements().map((element) => {
      const { issuer, sub } = element.members(['issuer', 'sub']);
      return { issuer: issuer.text(), sub: sub.text() };
    }),
  };
}

/** A DN, which counts from every trusted CA, or a map that names the one from which it counts. */
function readCertificate(place: FilePlace): UserCertificate {
  if (!place.isMap) return { subject: place.dn() };
  const { subject, issuer } = place.members(['subject', 'issuer']);
  return withoutUndefined({
    subject: subject.dn(),
    issuer: issuer.isGiven ? issuer.dn() : undefined,
  });
}

function readGroup(name: string, place: FilePlace): Group {
  const keys = ['vo', 'properties', 'members', 'idpScopes', 'idpRole'] as const;
  const { vo, properties, members, idpScopes, idpRole } = place.members(keys);
  return withoutUndefined({
    name,
    vo: vo.optionalText(),
    properties: new Set(properties.elements().flatMap(readProperty)),
    members: members.texts(),
    idpScopes: idpScopes.texts(),
    idpRole: idpRole.optionalText(),
  });
}

function readProperty(place: FilePlace): Property[] {
  const word = place.text();
  if (isProperty(word)) return [word];
  if (word !== '') place.fault(`${word} is not one of ${PROPERTIES.join(', ')}`);
  return [];
}

function readSetup(name: string, place: FilePlace): Setup {
  const { groups } = place.members(['groups']);
  return withoutUndefined({ name, groups: groups.isGiven ? groups.texts() : undefined });
}

function readApplication(id: string, place: FilePlace): Client {
  const keys = ['name', 'redirectUris', 'confidential', 'secretHash'] as const;
  const { name, redirectUris, confidential, secretHash } = place.members(keys);
  return withoutUndefined({
    id,
    name: name.optionalText() ?? id,
    redirectUris: redirectUris.elements().map(readRedirectUri),
    confidential: confidential.flag(false),
    secretHash: readSecretHash(secretHash),
    origin: 'file' as const,
  });
}

function readRedirectUri(place: FilePlace): string {
  const uri = place.text();
  const problem = uri === '' ? undefined : redirectUriFault(uri);
  if (problem !== undefined) place.fault(problem);
  return uri;
}

function readSecretHash(place: FilePlace): string | undefined {
  const hash = place.optionalText();
  if (hash && !/^[A-Za-z0-9_-]{43}$/.test(hash)) {
    place.fault('must be the SHA-256 of the secret in base64url (43 characters)');
  }
  return hash;
}

function readStorageElement(name: string, place: FilePlace): StorageElement {
  const { description } = place.members(['description']);
  return withoutUndefined({ name, description: description.optionalText() });
}

function readSite(name: string, place: FilePlace): Site {
  const members = place.members(SITE_MEMBERS);
  const { backend, slots, setups, options, processors, ramMB, gpus, maxWallTime } = members;
  return withoutUndefined({
    name,
    backend: backend.oneOf(['local-process', 'slurm']),
    options: options.anyObject(),
    setups: setups.isGiven ? setups.texts() : undefined,
    slots: slots.optionalCount(),
    processors: processors.optionalCount(),
    ramMB: ramMB.optionalCount({ max: MAX_RAM_MB }),
    gpus: gpus.optionalCount({ min: 0 }),
    tags: members.tags.isGiven ? members.tags.elements().map(readTag) : undefined,
    maxWallTime: maxWallTime.optionalCount({ max: MAX_WALL_TIME_SECONDS }),
    network: members.network.isGiven
      ? members.network.oneOf<SiteNetwork>(['none', 'host'])
      : undefined,
  });
}

function readTag(place: FilePlace): string {
  const tag = place.text();
  if (tag !== '' && !isSiteTag(tag)) place.fault(SITE_TAG_FORM);
  return tag;
}

function withoutUndefined<T extends object>(item: T): T {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as T;
}

function plainValue(document: Document, faults: RegistryFault[]): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    faults.push({ path: [], problem: (error as Error).message });
    return {};
  }
}

function lineAt(
  document: Document,
  lines: LineCounter,
  path: (string | number)[],
): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const parent =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    const pair = isMap(parent)
      ? parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
      : undefined;
    const node = (pair?.key ?? document.getIn(path.slice(0, length), true)) as
      { range?: [number, number, number] | null } | undefined;
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}

function firstLine(message: string): string {
  return message.split('\n')[0]?.replace(/:$/, '') ?? message;
}

function faultText({ path, problem }: RegistryFault, line: number | undefined): string {
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  const where = place.replace(/^\./, '') || 'file';
  return line === undefined ? `${where}: ${problem}` : `line ${line}: ${where}: ${problem}`;
}

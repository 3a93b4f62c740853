import { isAlias, isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml';
import { DocumentNode } from './document-node.js';
import { APPLICATION_MEMBERS, SITE_MEMBERS } from './registry-writing.js';
import { readSiteConnection } from './connection-reading.js';
import { readGroupLimits, readSiteLimits, readUserLimits } from './limits-reading.js';
import { isSiteTag, SITE_TAG_FORM } from '../model/site-tag.js';
import { isProperty, PROPERTIES, type Property } from '../model/property.js';
import { AUDIENCE_FORM, isAudience } from '../model/audience.js';
import { redirectUriFault } from '../model/redirect-uri.js';
import type { RegistryFault } from '../model/registry-rules.js';
import {
  CLIENT_PROFILES,
  ID_TOKEN_ALGORITHMS,
  DEFAULT_WEIGHT,
  KEY_AUTHENTICATIONS,
  SITE_BACKENDS,
  type Client,
  type Group,
  type RegistryContents,
  type Setup,
  type Share,
  type Site,
  type SiteNetwork,
  type StorageElement,
  type User,
  type UserCertificate,
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
  'shares',
] as const satisfies (keyof RegistryContents)[];

const USER_MEMBERS = [
  'sub',
  'fullName',
  'email',
  'certificates',
  'subjects',
  'limits',
  'disabled',
] as const;

const NAME = /^\P{Cc}{1,200}$/u;
const EMAIL = /^[^\s\p{Cc}@]{1,64}@[^\s\p{Cc}@]{1,255}$/u;
const MAX_RAM_MB = 1_000_000_000;
const MAX_WALL_TIME_SECONDS = 366 * 86_400;

/**
 * Reads the YAML text of a registry file: the sections it has, each complete. Throws RegistryFileError with every
 * fault of form; what refers to other items is checked when it is loaded.
 */
export function parseRegistryFile(text: string): Partial<RegistryContents> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, stringKeys: true, uniqueKeys: true });
  const lineOf = (fault: RegistryFault): number | undefined => lineAt(document, lines, fault.path);
  if (document.errors.length > 0) {
    throw new RegistryFileError(
      document.errors.map((error) => ({ path: [], problem: firstLine(error.message) })),
    );
  }
  const faults: RegistryFault[] = [];
  const contents = readSections(
    new DocumentNode(plainValue(document, faults), [], faults),
    (section) => namesOf(document, section),
  );
  if (faults.length > 0) throw new RegistryFileError(faults, lineOf);
  return contents;
}

const ENTRY_READERS: {
  [S in EntrySection]: (name: string, place: DocumentNode) => RegistryContents[S][number];
} = { users: readUser, groups: readGroup, sites: readSite };

/** A section whose items can be read one by one. */
export type EntrySection = 'users' | 'groups' | 'sites';

/** One user, group or site, of what a file says of it. Throws RegistryFileError with every fault of form. */
export function readEntry<S extends EntrySection>(
  section: S,
  name: string,
  body: unknown,
): RegistryContents[S][number] {
  const faults: RegistryFault[] = [];
  const named = Object.defineProperty({}, name, { value: body, enumerable: true });
  const places = new DocumentNode(named, [section], faults).items();
  const [entry] = places.map(([, place]) => ENTRY_READERS[section](name, place));
  if (entry === undefined || faults.length > 0) throw new RegistryFileError(faults);
  return entry;
}

type Section = (typeof SECTIONS)[number];

function readSections(
  root: DocumentNode,
  orderOf: (section: Section) => readonly string[],
): Partial<RegistryContents> {
  const places = root.members(SECTIONS);
  const section = <T>(
    name: Section,
    read: (name: string, place: DocumentNode) => T,
  ): T[] | undefined =>
    places[name].isGiven
      ? places[name].items(orderOf(name)).map(([name, item]) => read(name, item))
      : undefined;
  const contents = {
    users: section('users', readUser),
    groups: section('groups', readGroup),
    setups: section('setups', readSetup),
    applications: section('applications', readApplication),
    storageElements: section('storageElements', readStorageElement),
    sites: section('sites', readSite),
    shares: section('shares', readShare),
  };
  return withoutUndefined(contents);
}

function readUser(name: string, place: DocumentNode): User {
  const { sub, fullName, email, certificates, subjects, limits, disabled } =
    place.members(USER_MEMBERS);
  return withoutUndefined({
    name,
    sub: sub.isGiven ? readSub(sub) : undefined,
    fullName: readFormed(fullName, NAME, 'must have 1 to 200 characters, none of them a control'),
    email: readFormed(email, EMAIL, 'is no e-mail address'),
    certificates: certificates.elements().map(readCertificate),
    subjects: subjects.elements().map((element) => {
      const { issuer, sub } = element.members(['issuer', 'sub']);
      return { issuer: issuer.text(), sub: sub.text() };
    }),
    limits: readUserLimits(limits),
    disabled: disabled.isGiven ? disabled.flag(false) : undefined,
  });
}

/** OpenID Connect Core 1.0 §2: at most 255 ASCII characters. */
function readSub(place: DocumentNode): string {
  const sub = place.text();
  if (sub !== '' && !/^[\x21-\x7e]{1,255}$/.test(sub)) {
    place.fault('must be 1 to 255 printable ASCII characters without blanks');
  }
  return sub;
}

function readFormed(place: DocumentNode, form: RegExp, problem: string): string | undefined {
  const text = place.optionalText();
  if (text !== undefined && !form.test(text)) place.fault(problem);
  return text;
}

/** A DN, which counts from every trusted CA, or a map that names the one from which it counts. */
function readCertificate(place: DocumentNode): UserCertificate {
  if (!place.isMap) return { subject: place.dn() };
  const { subject, issuer } = place.members(['subject', 'issuer']);
  return withoutUndefined({
    subject: subject.dn(),
    issuer: issuer.isGiven ? issuer.dn() : undefined,
  });
}

function readGroup(name: string, place: DocumentNode): Group {
  const keys = ['vo', 'properties', 'members', 'idpScopes', 'idpRole', 'limits'] as const;
  const { vo, properties, members, idpScopes, idpRole, limits } = place.members(keys);
  return withoutUndefined({
    name,
    vo: vo.optionalText(),
    properties: new Set(properties.elements().flatMap(readProperty)),
    members: members.texts(),
    idpScopes: idpScopes.texts(),
    idpRole: idpRole.optionalText(),
    limits: readGroupLimits(limits),
  });
}

function readProperty(place: DocumentNode): Property[] {
  const word = place.text();
  if (isProperty(word)) return [word];
  if (word !== '') place.fault(`${word} is not one of ${PROPERTIES.join(', ')}`);
  return [];
}

function readSetup(name: string, place: DocumentNode): Setup {
  const { groups } = place.members(['groups']);
  return withoutUndefined({ name, groups: groups.isGiven ? groups.texts() : undefined });
}

function readApplication(id: string, place: DocumentNode): Client {
  const members = place.members(APPLICATION_MEMBERS);
  const { name, redirectUris, secretHash, authentication, jwks, subjectDn, profile } = members;
  const { postLogoutRedirectUris, audiences, idTokenAlg } = members;
  return withoutUndefined({
    id,
    name: name.optionalText() ?? id,
    redirectUris: redirectUris.elements().map(readRedirectUri),
    postLogoutRedirectUris: postLogoutRedirectUris.isGiven
      ? postLogoutRedirectUris.elements().map(readRedirectUri)
      : undefined,
    confidential: members.confidential.flag(authentication.isGiven),
    secretHash: readSecretHash(secretHash),
    audiences: audiences.isGiven ? audiences.elements().map(readAudience) : undefined,
    authentication: authentication.isGiven ? authentication.oneOf(KEY_AUTHENTICATIONS) : undefined,
    jwks: jwks.isGiven ? jwks.anyObject() : undefined,
    subjectDn: subjectDn.isGiven ? subjectDn.dn() : undefined,
    profile: profile.isGiven ? profile.oneOf(CLIENT_PROFILES) : undefined,
    idTokenAlg: idTokenAlg.isGiven ? idTokenAlg.oneOf(ID_TOKEN_ALGORITHMS) : undefined,
    scopes: members.scopes.isGiven ? members.scopes.texts() : undefined,
    group: members.group.optionalText(),
    origin: 'file' as const,
  });
}

function readAudience(place: DocumentNode): string {
  const audience = place.text();
  if (audience !== '' && !isAudience(audience)) place.fault(AUDIENCE_FORM);
  return audience;
}

function readRedirectUri(place: DocumentNode): string {
  const uri = place.text();
  const problem = uri === '' ? undefined : redirectUriFault(uri);
  if (problem !== undefined) place.fault(problem);
  return uri;
}

function readSecretHash(place: DocumentNode): string | undefined {
  const hash = place.optionalText();
  if (hash && !/^[A-Za-z0-9_-]{43}$/.test(hash)) {
    place.fault('must be the SHA-256 of the secret in base64url (43 characters)');
  }
  return hash;
}

function readStorageElement(name: string, place: DocumentNode): StorageElement {
  const { description } = place.members(['description']);
  return withoutUndefined({ name, description: description.optionalText() });
}

function readSite(name: string, place: DocumentNode): Site {
  const members = place.members(SITE_MEMBERS);
  const { backend, slots, setups, options, processors, ramMB, gpus, maxWallTime } = members;
  const kind = backend.oneOf(SITE_BACKENDS);
  return withoutUndefined({
    name,
    backend: kind,
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
    limits: readSiteLimits(members.limits),
    connection: readSiteConnection(members.connection, kind),
  });
}

function readShare(name: string, place: DocumentNode): Share {
  return { name, weight: place.optionalCount() ?? DEFAULT_WEIGHT };
}

function readTag(place: DocumentNode): string {
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

/** The names of a section in the order of the file. */
function namesOf(document: Document, section: Section): string[] {
  const node = document.get(section, true);
  const map = isAlias(node) ? node.resolve(document) : node;
  return isMap(map) ? map.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : [];
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
  const [line = message] = message.split('\n');
  const named = line.replace(/^With stringKeys, all keys must be strings/, 'A name must be text');
  return named.replace(/:$/, '');
}

function faultText({ path, problem }: RegistryFault, line: number | undefined): string {
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  const where = place.replace(/^\./, '') || 'file';
  return line === undefined ? `${where}: ${problem}` : `line ${line}: ${where}: ${problem}`;
}

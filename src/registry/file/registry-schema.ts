import { canonicalDn } from '#src/x509/index.js';
import type { Schema } from '#src/config/index.js';
import { AUDIENCE_FORM, isAudience } from '../model/audience.js';
import type { GroupLimits, JobLimits, SiteLimits } from '../model/limits.js';
import { isProperty, PROPERTIES } from '../model/property.js';
import { isLoopbackHost, redirectUriFault } from '../model/redirect-uri.js';
import { isSiteTag, SITE_TAG_FORM } from '../model/site-tag.js';
import { STORAGE_KINDS } from '../model/storage-element.js';
import {
  CLIENT_PROFILES,
  ID_TOKEN_ALGORITHMS,
  KEY_AUTHENTICATIONS,
  SITE_BACKENDS,
  type RegistryContents,
} from '../model/registry.types.js';
import { anyMap, count, formed, list, map, never, oneOf, text } from './yaml-file.js';

const NO_NAME = 'is no name: 1 to 128 characters without blank, slash or comma';
const NO_VOS = 'names none; leave it out for all virtual organisations';
const NO_PATH = 'is no absolute path of letters, digits and . _ + @ -';
const NO_DIRECTORY =
  'is neither / nor a directory such as /vo/data, of letters, digits and . _ + @ -';
const NO_SECRET_HASH = 'must be the SHA-256 of the secret in base64url (43 characters)';

/** OpenID Connect Core 1.0 §2: at most 255 ASCII characters. */
const sub = formed(
  /^[\x21-\x7e]{1,255}$/,
  'must be 1 to 255 printable ASCII characters without blanks',
);
const fullName = formed(
  /^\P{Cc}{1,200}$/u,
  'must have 1 to 200 characters, none of them a control',
);
const email = formed(/^[^\s\p{Cc}@]{1,64}@[^\s\p{Cc}@]{1,255}$/u, 'is no e-mail address');
const dn = text((spelling) => {
  try {
    canonicalDn(spelling);
    return undefined;
  } catch (error) {
    return `is not a distinguished name: ${(error as Error).message}`;
  }
});
/** A DN, which counts from every trusted CA, or a map that names the one from which it counts. */
const certificate: Schema = {
  ...{ if: { type: 'object' }, then: map({ subject: dn, issuer: dn }, ['subject']), else: dn },
};
const property = text((word) =>
  isProperty(word) ? undefined : `${word} is not one of ${PROPERTIES.join(', ')}`,
);
const redirectUri = text(redirectUriFault);
const audience = text((name) => (isAudience(name) ? undefined : AUDIENCE_FORM));
const tag = text((word) => (isSiteTag(word) ? undefined : SITE_TAG_FORM));
const texts = list(text());
/** An empty list would be read as everybody or as nobody. */
const someVos = (problem: string): Schema => ({
  ...texts,
  fits: (names: unknown) => (Array.isArray(names) && names.length > 0 ? undefined : problem),
});
const vos = someVos(NO_VOS);
const orNone = (schema: Schema): Schema => ({ ...schema, default: [] });

/** 0 is a limit: nothing runs, or nothing is taken. */
const limit = count({ min: 0, max: 1_000_000_000 });

/** Neither an option, nor anything that a shell or a file of settings reads in its own way. */
const isPath = (value: string): boolean =>
  /^(\/[\w.+@-]+)+\/?$/.test(value) && !/\/\.\.?(\/|$)/.test(value);
const path = text((value) => (isPath(value) ? undefined : NO_PATH));
/** Written in one way, so that two addresses are one where they are one text. */
function storageUrlFault(url: string): string | undefined {
  if (!/^https?:\/\/[^/\s@?#]+(\/[\w.+@-]+)*\/?$/.test(url) || !URL.canParse(url)) {
    return 'is no https://host:port/path of letters, digits and . _ + @ -';
  }
  const { protocol, hostname, href } = new URL(url);
  if (protocol === 'http:' && !isLoopbackHost(hostname)) return 'must be https';
  const written = href.replace(/\/$/, '');
  return written === url.replace(/\/$/, '') ? undefined : `must be written as ${written}`;
}
const CONNECTION = {
  ...{ user: formed(/^[A-Za-z_][\w.-]{0,31}$/, 'is no name of an account') },
  ...{ workDirectory: path, remoteDirectory: path, timeout: count({ max: 300 }) },
};
const URL_FORM = /^(https?:\/\/[^/\s@?#]+\/?|unix:\/\S+)$/;
const OF_REST = {
  url: formed(URL_FORM, 'is neither http://host:port nor unix:/path'),
  ...{ tokenFile: path, keyFile: path },
};
/** A name or an address, and no option. */
const HOST_FORM = /^[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$/;
const OF_SSH = {
  ssh: formed(HOST_FORM, 'is no name or address of a machine'),
  port: count({ max: 65_535 }),
  ...{ identityFile: path, knownHostsFile: path, programs: path, configFile: path },
};
const allNever = (members: object, problem: string): Record<string, Schema> =>
  Object.fromEntries(Object.keys(members).map((name) => [name, never(problem)]));
const REST_ALONE = allNever(OF_SSH, 'is for a connection by ssh only');
const SSH_ALONE = allNever(OF_REST, 'is not for a connection by ssh');
/** By ssh the account, its key and the keys of the machine must be said: there is no default that could be meant. */
const connection: Schema = {
  if: { type: 'object', required: ['ssh'] },
  then: map({ ...SSH_ALONE, ...OF_SSH, ...CONNECTION }, [
    ...['identityFile', 'knownHostsFile', 'user', 'workDirectory'],
  ]),
  else: {
    ...map({ ...OF_REST, ...REST_ALONE, ...CONNECTION }, ['url', 'workDirectory']),
    if: { required: ['tokenFile'] },
    then: { properties: { keyFile: never('stands beside tokenFile: one of both') } },
  },
};

// A limit that its type declares has its form here, or this does not compile.
const JOB_LIMITS: Record<keyof JobLimits, Schema> = { running: limit, waiting: limit };
const GROUP_LIMITS: Record<keyof GroupLimits, Schema> = {
  ...JOB_LIMITS,
  ...{ ownerRunning: limit, ownerWaiting: limit },
};
const SITE_LIMITS: Record<keyof SiteLimits, Schema> = {
  ...JOB_LIMITS,
  tags: { ...anyMap, additionalProperties: limit },
};

const USER = map({
  ...{ sub, fullName, email, certificates: orNone(list(certificate)) },
  subjects: orNone(list(map({ issuer: text(), sub: text() }, ['issuer', 'sub']))),
  limits: map(JOB_LIMITS),
  disabled: { type: 'boolean' },
});

const GROUP = map({
  ...{ vo: text(), properties: orNone(list(property)), members: orNone(texts) },
  ...{ idpScopes: orNone(texts), idpRole: text() },
  limits: map(GROUP_LIMITS),
});

const APPLICATION = map({
  ...{ name: text(), redirectUris: orNone(list(redirectUri)) },
  postLogoutRedirectUris: list(redirectUri),
  confidential: { type: 'boolean' },
  secretHash: formed(/^[A-Za-z0-9_-]{43}$/, NO_SECRET_HASH),
  audiences: list(audience),
  authentication: oneOf(KEY_AUTHENTICATIONS),
  ...{ jwks: anyMap, subjectDn: dn, profile: oneOf(CLIENT_PROFILES) },
  idTokenAlg: oneOf(ID_TOKEN_ALGORITHMS),
  ...{ scopes: texts, group: text() },
});

const SITE: Schema = {
  ...map(
    {
      ...{ backend: oneOf(SITE_BACKENDS), slots: count(), setups: texts, vos, processors: count() },
      ...{ ramMB: count({ max: 1_000_000_000 }), gpus: count({ min: 0 }), tags: list(tag) },
      ...{ maxWallTime: count({ max: 366 * 86_400 }), network: oneOf(['none', 'host']) },
      limits: map(SITE_LIMITS),
      options: { ...anyMap, default: {} },
      connection,
    },
    ['backend'],
  ),
  if: { properties: { backend: { const: 'slurm' } } },
  else: { properties: { connection: never('is for sites of the backend slurm only') } },
};

/** The root, or a directory without a slash at the end. */
const directory = text((value) => {
  const isDirectory = value === '/' || (isPath(value) && !value.endsWith('/'));
  return isDirectory ? undefined : NO_DIRECTORY;
});
const OF_ADDRESS = { kind: oneOf(STORAGE_KINDS), vos: someVos('names none'), base: directory };
const S3_FORM = /^https?:\/\/[^/]+\/[^/]/;
const STORAGE_ELEMENT: Schema = {
  ...map({
    description: text(),
    url: text(storageUrlFault),
    ...OF_ADDRESS,
    ...{ audience, credentialsFile: path, removes: { type: 'boolean' } },
  }),
  if: { required: ['url'] },
  then: {
    required: ['kind', 'vos'],
    if: { properties: { kind: { const: 's3' } }, required: ['kind'] },
    then: {
      required: ['credentialsFile'],
      properties: {
        url: formed(S3_FORM, 'names no bucket: give https://host/bucket'),
        audience: never('is not for S3, where nobody has a token'),
      },
    },
    else: { properties: { credentialsFile: never('is for S3 only') } },
  },
  else: {
    properties: allNever(
      { ...OF_ADDRESS, audience, credentialsFile: path, removes: { type: 'boolean' } },
      'needs the url of the storage',
    ),
  },
};

const named = (item: Schema): Schema => ({
  ...anyMap,
  propertyNames: formed(/^[^\s/,\p{Cc}]{1,128}$/u, NO_NAME),
  additionalProperties: item,
});

/** What each section of a registry file may say, and one item of it. */
export const SECTIONS = {
  users: named(USER),
  groups: named(GROUP),
  setups: named(map({ groups: texts })),
  applications: named(APPLICATION),
  storageElements: named(STORAGE_ELEMENT),
  sites: named(SITE),
  shares: named(count()),
} as const satisfies Record<keyof RegistryContents, Schema>;

/** Members of an application in the file, of a site and of a storage element, in the order in which they are written. */
export const APPLICATION_MEMBERS = Object.keys(APPLICATION['properties'] as object);
export const SITE_MEMBERS = Object.keys(SITE['properties'] as object);
export const STORAGE_ELEMENT_MEMBERS = Object.keys(STORAGE_ELEMENT['properties'] as object);

import { KEY_USAGE, OID } from '../certificate/certificate-fields.js';
import { refuse, type RefusedCertificate } from './certificate-verdict.js';
import { isIssuedBy, type ChainLink } from '../certificate/chain-link.js';
import { dateFault } from './proxy-certificate.js';
import type { TrustStore } from './trust-store.js';

const MAX_DEPTH = 10;
/** Signature checks for one certificate: a stranger cannot make the search expensive. */
const MAX_CHECKS = 40;
const MIN_RSA_BITS = 2_048;

/** MD2, MD5 and SHA-1 signatures can be forged. */
const WEAK_SIGNATURES = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.3.14.3.2.29',
  '1.2.840.10045.4.1',
  '1.2.840.10040.4.3',
]);

/** What to do when a CA's revocation list is out of date or there is none. */
export interface RevocationPolicy {
  expired: 'refuse' | 'accept';
  missing: 'refuse' | 'accept';
}

/**
 * All chains from the end entity to a trusted CA: issuers are looked for among the trusted CAs first, then
 * among what the client sent. A chain goes on to the root where the root is known, so that a revoked or
 * expired intermediate is noticed; a trusted intermediate whose root is not known ends it.
 */
export function* pathsToTrust(
  endEntity: ChainLink,
  presented: ChainLink[],
  store: TrustStore,
): Generator<ChainLink[]> {
  const budget = { checks: MAX_CHECKS };
  yield* extend([endEntity], { presented, store, budget });
}

interface Search {
  presented: ChainLink[];
  store: TrustStore;
  budget: { checks: number };
}

function* extend(path: ChainLink[], search: Search): Generator<ChainLink[]> {
  const link = path.at(-1);
  if (link === undefined || path.length > MAX_DEPTH) return;
  const isAnchor = path.length > 1 && search.store.isTrusted(link);
  if (isAnchor && link.isSelfSigned) {
    yield path;
    return;
  }
  const trusted = search.store.authorities(link.issuerKey);
  let isContinued = false;
  for (const issuer of isAnchor ? trusted : [...trusted, ...search.presented]) {
    if (path.some((one) => one.fingerprint === issuer.fingerprint)) continue;
    if (issuer.subjectKey !== link.issuerKey || search.budget.checks-- <= 0) continue;
    if (!isIssuedBy(link, issuer)) continue;
    isContinued = true;
    yield* extend([...path, issuer], search);
  }
  if (isAnchor && !isContinued) yield path;
}

/** The first fault of a chain (end entity first) by RFC 5280 §6, or undefined. */
export function faultOfPath(
  path: ChainLink[],
  context: { store: TrustStore; policy: RevocationPolicy; now: number },
): RefusedCertificate | undefined {
  const { store, policy, now } = context;
  for (const [index, link] of path.entries()) {
    const fault =
      dateFault(link, now) ??
      strengthFault(link, index === path.length - 1) ??
      (index === 0
        ? purposeFault(link)
        : authorityFault(link, path.slice(1, index), store.isTrusted(link)));
    if (fault !== undefined) return fault;
  }
  for (const [index, link] of path.entries()) {
    const issuer = path[index + 1];
    const fault = issuer && rightsFault(link, path.slice(index + 1), store);
    if (fault) return fault;
  }
  for (const [index, link] of path.entries()) {
    const issuer = path[index + 1];
    const fault = issuer && revocationFault(link, issuer, { store, policy, now });
    if (fault) return fault;
  }
  return undefined;
}

/** When the verdict on a good chain has to be looked at again: milliseconds since 1970. */
export function pathEnd(path: ChainLink[], store: TrustStore): number {
  const ends = path.map((link) => link.fields.notAfter);
  const lists = path.slice(1).map((issuer) => store.revocationList(issuer)?.nextUpdate);
  return Math.min(...ends, ...lists.filter((end) => end !== undefined));
}

function strengthFault(link: ChainLink, isAnchor: boolean): RefusedCertificate | undefined {
  const subject = link.subject;
  const [unknown] = link.fields.unknownCritical;
  if (unknown !== undefined) {
    return refuse('untrusted', `${subject} has the critical extension ${unknown}, unknown here`);
  }
  // Nobody relies on the signature of a trusted CA's own certificate.
  if (!isAnchor && WEAK_SIGNATURES.has(link.fields.signatureAlgorithm)) {
    return refuse('untrusted', `${subject} is signed with a broken algorithm (MD5 or SHA-1)`);
  }
  const bits = link.publicKey.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < MIN_RSA_BITS) {
    return refuse('untrusted', `${subject} has a key of ${bits} bits, ${MIN_RSA_BITS} are needed`);
  }
  return undefined;
}

/** An end entity for client authentication (RFC 5280 §4.2.1.12, RFC 8446 §4.4.2.4). */
function purposeFault(link: ChainLink): RefusedCertificate | undefined {
  const { fields } = link;
  const subject = link.subject;
  if (fields.isAuthority) {
    return refuse('wrong-purpose', `${subject} is a CA, not an end entity`);
  }
  if (!allowsClients(fields.extendedKeyUsage)) {
    return refuse('wrong-purpose', `${subject} is not for client authentication`);
  }
  const usable = KEY_USAGE.digitalSignature | KEY_USAGE.keyAgreement;
  if (fields.keyUsage !== undefined && (fields.keyUsage & usable) === 0) {
    return refuse('wrong-purpose', `the key of ${subject} may not sign`);
  }
  return undefined;
}

function allowsClients(usage: string[] | undefined): boolean {
  if (usage === undefined) return true;
  return usage.includes(OID.clientAuth) || usage.includes(OID.anyExtendedKeyUsage);
}

/** `below` are the CAs between this one and the end entity. */
function authorityFault(
  link: ChainLink,
  below: ChainLink[],
  isTrusted: boolean,
): RefusedCertificate | undefined {
  const { fields } = link;
  const bad = (what: string): RefusedCertificate => refuse('untrusted', `${link.subject} ${what}`);
  const isOldRoot = isTrusted && fields.version < 3 && link.isSelfSigned;
  if (!fields.isAuthority && !isOldRoot) return bad('is no CA and has signed a certificate');
  if (fields.keyUsage !== undefined && (fields.keyUsage & KEY_USAGE.keyCertSign) === 0) {
    return bad('may not sign certificates');
  }
  if (!isTrusted && !allowsClients(fields.extendedKeyUsage)) {
    return refuse('wrong-purpose', `${link.subject} is not a CA for client certificates`);
  }
  const counted = below.filter((one) => one.subjectKey !== one.issuerKey).length;
  if (fields.pathLength !== undefined && counted > fields.pathLength) {
    return bad(`allows ${fields.pathLength} CAs below it, there are ${counted}`);
  }
  return undefined;
}

/** What the policy files of the grid layout say; `issuers` are the CA and those above it. */
function rightsFault(
  link: ChainLink,
  issuers: ChainLink[],
  store: TrustStore,
): RefusedCertificate | undefined {
  const fault = store.signingFault(link.subject, issuers);
  if (fault === undefined) return undefined;
  const message = `${issuers[0]?.subject} may not sign ${link.subject}: ${fault}`;
  return refuse('outside-namespace', message);
}

function revocationFault(
  link: ChainLink,
  issuer: ChainLink,
  context: { store: TrustStore; policy: RevocationPolicy; now: number },
): RefusedCertificate | undefined {
  const { store, policy, now } = context;
  const list = store.revocationList(issuer);
  if (list === undefined) {
    return policy.missing === 'accept'
      ? undefined
      : refuse('crl-missing', `there is no revocation list of ${issuer.subject}`);
  }
  // Also a list that is out of date says truly who was revoked.
  if (list.revoked.has(link.fields.serialNumber)) {
    return refuse('revoked', `${link.subject} was revoked by ${issuer.subject}`);
  }
  if (list.nextUpdate === undefined || now <= list.nextUpdate || policy.expired === 'accept') {
    return undefined;
  }
  const since = new Date(list.nextUpdate).toISOString();
  return refuse('crl-expired', `the revocation list of ${issuer.subject} has expired at ${since}`);
}

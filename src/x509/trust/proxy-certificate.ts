import { KEY_USAGE, OID } from '../certificate/certificate-fields.js';
import { refuse, type RefusedCertificate } from './certificate-verdict.js';
import { isIssuedBy, type ChainLink } from '../certificate/chain-link.js';
import { decodeName, formatDn } from '../certificate/distinguished-name.js';

const INHERIT_ALL = '1.3.6.1.5.5.7.21.1';
const INDEPENDENT = '1.3.6.1.5.5.7.21.2';
const LIMITED = '1.3.6.1.4.1.3536.1.1.1.9';
const MAX_PROXIES = 10;
const MIN_RSA_BITS = 1_024;

/** `rfc3820`, or a form from before it (Globus 2 and 3), which is never accepted. */
export type ProxyKind = 'rfc3820' | 'legacy';

/** What kind of proxy the certificate is; undefined: it is none. */
export function proxyKind(link: ChainLink): ProxyKind | undefined {
  const { extensions, isAuthority } = link.fields;
  if (extensions.has(OID.proxyCertInfo)) return 'rfc3820';
  if (extensions.has(OID.draftProxyCertInfo)) return 'legacy';
  const { subject, issuer } = link;
  const isLegacy = subject === `${issuer}/CN=proxy` || subject === `${issuer}/CN=limited proxy`;
  return isLegacy && !isAuthority ? 'legacy' : undefined;
}

/** The end entity behind a chain of proxies. */
export interface ProxyHolder {
  ok: true;
  holder: ChainLink;
  /** Leaf first. */
  proxies: ChainLink[];
  isLimited: boolean;
}

/**
 * Follows proxies from the leaf to the end entity that signed the first of them, by the rules of RFC 3820 §4:
 * each is signed by the next, its subject is the issuer's and one CN, it is no CA and has no alternative
 * names, it may sign, proxyCertInfo is critical, its policy language is known, path lengths are kept, and it
 * is valid now. The end entity itself is verified like any other.
 */
export function findProxyHolder(
  presented: ChainLink[],
  now: number,
): ProxyHolder | RefusedCertificate {
  const proxies: ChainLink[] = [];
  let isLimited = false;
  let link = presented[0];
  while (link !== undefined && proxyKind(link) !== undefined) {
    const current: ChainLink = link;
    if (proxies.length === MAX_PROXIES) return refuse('invalid-proxy', 'too many proxies');
    const own = ownFault(current, proxies.length);
    if (own !== undefined) return own;
    const issuer = presented.find((one) => one !== current && isIssuedBy(current, one));
    if (issuer === undefined) {
      const message = `the issuer of the proxy ${current.subject} was not sent along, or has not signed it`;
      return refuse('untrusted', message);
    }
    const fault = issuerFault(current, issuer) ?? dateFault(current, now);
    if (fault !== undefined) return fault;
    isLimited ||= current.fields.proxy?.language === LIMITED;
    proxies.push(current);
    link = issuer;
  }
  if (link === undefined) return refuse('untrusted', 'there is no end entity behind the proxy');
  return { ok: true, holder: link, proxies, isLimited };
}

/** What is wrong with the proxy itself; `below` proxies follow it towards the leaf. */
function ownFault(link: ChainLink, below: number): RefusedCertificate | undefined {
  const { fields } = link;
  const bad = (what: string): RefusedCertificate =>
    refuse('invalid-proxy', `the proxy ${link.subject} ${what}`);
  if (proxyKind(link) === 'legacy') {
    return refuse(
      'proxy-not-allowed',
      `${link.subject} is a proxy of a kind older than RFC 3820, which is never accepted`,
    );
  }
  const info = fields.proxy;
  if (info?.isCritical !== true) return bad('has a proxyCertInfo that is not critical');
  if (!isOneNameLonger(link)) return bad('is not named like its issuer with one more CN');
  if (fields.isAuthority) return bad('claims to be a CA');
  if (fields.extensions.has(OID.subjectAltName) || fields.extensions.has(OID.issuerAltName)) {
    return bad('has alternative names');
  }
  if (!maySign(link)) return bad('may not sign (no digitalSignature)');
  if (fields.unknownCritical.length > 0) return bad('has an unknown critical extension');
  const usage = fields.extendedKeyUsage;
  if (usage && !usage.includes(OID.clientAuth) && !usage.includes(OID.anyExtendedKeyUsage)) {
    return refuse('wrong-purpose', `the proxy ${link.subject} is not for client authentication`);
  }
  if (info.pathLength !== undefined && below > info.pathLength) {
    return bad(`allows ${info.pathLength} proxies behind it, there are ${below}`);
  }
  const bits = link.publicKey.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < MIN_RSA_BITS) return bad(`has a key of ${bits} bits`);
  return policyFault(link, info.language, info.hasPolicy);
}

function issuerFault(link: ChainLink, issuer: ChainLink): RefusedCertificate | undefined {
  if (issuer.fields.isAuthority) {
    return refuse('invalid-proxy', `the proxy ${link.subject} is signed by a CA`);
  }
  if (maySign(issuer)) return undefined;
  const message = `${issuer.subject} has signed a proxy and may not sign (no digitalSignature)`;
  return refuse('invalid-proxy', message);
}

function policyFault(
  link: ChainLink,
  language: string,
  hasPolicy: boolean,
): RefusedCertificate | undefined {
  const subject = link.subject;
  if (language === INDEPENDENT) {
    const message = `the proxy ${subject} is independent: it has none of its user's rights`;
    return refuse('proxy-not-allowed', message);
  }
  if (language !== INHERIT_ALL && language !== LIMITED) {
    return refuse('invalid-proxy', `the proxy ${subject} has the unknown policy ${language}`);
  }
  if (language === INHERIT_ALL && hasPolicy) {
    return refuse('invalid-proxy', `the proxy ${subject} inherits all and has a policy`);
  }
  return undefined;
}

/** RFC 3820 §3.4: the issuer's subject, then one relative name that is one CN. */
function isOneNameLonger(link: ChainLink): boolean {
  const subject = decodeName(link.fields.subject);
  const last = subject.pop();
  const isOneCommonName = last?.length === 1 && last[0]?.type === 'CN';
  return isOneCommonName && formatDn(subject) === link.issuer;
}

function maySign({ fields }: ChainLink): boolean {
  return fields.keyUsage === undefined || (fields.keyUsage & KEY_USAGE.digitalSignature) !== 0;
}

/** Whether the certificate is valid now. */
export function dateFault(link: ChainLink, now: number): RefusedCertificate | undefined {
  const { notBefore, notAfter } = link.fields;
  if (now < notBefore) {
    const since = new Date(notBefore).toISOString();
    return refuse('not-yet-valid', `${link.subject} is not valid before ${since}`);
  }
  if (now > notAfter) {
    return refuse('expired', `${link.subject} has expired at ${new Date(notAfter).toISOString()}`);
  }
  return undefined;
}

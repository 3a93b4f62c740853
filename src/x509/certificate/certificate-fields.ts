import {
  children,
  DerError,
  content,
  encoded,
  expectTag,
  readBits,
  readBoolean,
  readOid,
  readSmallInteger,
  readTime,
  readWhole,
  TAG,
  type DerElement,
} from './der.js';

/** Object identifiers of extensions and purposes that a client certificate is judged by. */
export const OID = {
  subjectAltName: '2.5.29.17',
  issuerAltName: '2.5.29.18',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  certificatePolicies: '2.5.29.32',
  policyConstraints: '2.5.29.36',
  extendedKeyUsage: '2.5.29.37',
  inhibitAnyPolicy: '2.5.29.54',
  proxyCertInfo: '1.3.6.1.5.5.7.1.14',
  /** Proxies of Globus Toolkit 3, from a draft of RFC 3820. */
  draftProxyCertInfo: '1.3.6.1.4.1.3536.1.222',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  anyExtendedKeyUsage: '2.5.29.37.0',
} as const;

/** Bits of keyUsage (RFC 5280 §4.2.1.3) as `1 << bit`. */
export const KEY_USAGE = {
  digitalSignature: 1 << 0,
  keyAgreement: 1 << 4,
  keyCertSign: 1 << 5,
  cRLSign: 1 << 6,
} as const;

/** RFC 3820 §3.8: what the holder of a proxy may do. */
export interface ProxyCertInfo {
  pathLength: number | undefined;
  /** Object identifier of the policy language. */
  language: string;
  hasPolicy: boolean;
  isCritical: boolean;
}

/** The parts of a certificate that node:crypto does not tell. */
export interface CertificateFields {
  /** 1, 2 or 3. */
  version: number;
  /** Upper-case hex without leading zeros. */
  serialNumber: string;
  signatureAlgorithm: string;
  /** DER of the names. */
  issuer: Buffer;
  subject: Buffer;
  /** Milliseconds since 1970. */
  notBefore: number;
  notAfter: number;
  /** Undefined when the extension is absent. */
  keyUsage: number | undefined;
  extendedKeyUsage: string[] | undefined;
  isAuthority: boolean;
  pathLength: number | undefined;
  proxy: ProxyCertInfo | undefined;
  /** All extensions there are. */
  extensions: Set<string>;
  /** Critical ones that nothing here understands (RFC 5280 §4.2: the certificate must be refused). */
  unknownCritical: string[];
}

/** Critical extensions that are either judged here or cannot change who somebody is. */
const UNDERSTOOD = new Set<string>([
  OID.keyUsage,
  OID.basicConstraints,
  OID.extendedKeyUsage,
  OID.subjectAltName,
  OID.issuerAltName,
  OID.certificatePolicies,
  OID.policyConstraints,
  OID.inhibitAnyPolicy,
  OID.proxyCertInfo,
  OID.draftProxyCertInfo,
]);

/** The fields of TBSCertificate in their order, version taken off. */
function tbsFields(der: Buffer): { version: number; fields: DerElement[]; all: DerElement[] } {
  const all = children(readWhole(der, TAG.sequence));
  const fields = children(expectTag(all[0], TAG.sequence));
  let version = 1;
  if (fields[0]?.tag === 0xa0) {
    const [number] = children(expectTag(fields.shift(), 0xa0));
    version = readSmallInteger(expectTag(number, TAG.integer)) + 1;
  }
  return { version, fields, all };
}

/** DER of the subject's name. Throws DerError. */
export function certificateSubject(der: Buffer): Buffer {
  return encoded(expectTag(tbsFields(der).fields[4], TAG.sequence));
}

/** Reads a DER certificate. Throws DerError for anything that is not one. */
export function readCertificate(der: Buffer): CertificateFields {
  const { version, fields, all } = tbsFields(der);
  const [notBefore, notAfter] = children(expectTag(fields[3], TAG.sequence));
  if (notBefore === undefined || notAfter === undefined) throw new DerError('no validity');
  const parsed: CertificateFields = {
    version,
    serialNumber: serialHex(expectTag(fields[0], TAG.integer)),
    signatureAlgorithm: algorithmOf(expectTag(all[1], TAG.sequence)),
    issuer: encoded(expectTag(fields[2], TAG.sequence)),
    subject: encoded(expectTag(fields[4], TAG.sequence)),
    notBefore: readTime(notBefore),
    notAfter: readTime(notAfter),
    keyUsage: undefined,
    extendedKeyUsage: undefined,
    isAuthority: false,
    pathLength: undefined,
    proxy: undefined,
    extensions: new Set(),
    unknownCritical: [],
  };
  const wrapper = fields.slice(6).find((field) => field.tag === 0xa3);
  const [list] = wrapper === undefined ? [] : children(wrapper);
  for (const extension of list === undefined ? [] : children(list))
    readExtension(extension, parsed);
  return parsed;
}

/** Serial numbers are compared as text: upper-case hex without leading zeros. */
function serialHex(element: DerElement): string {
  const hex = content(element).toString('hex').toUpperCase().replace(/^0+/, '');
  return hex === '' ? '0' : hex;
}

function algorithmOf(sequence: DerElement): string {
  return readOid(expectTag(children(sequence)[0], TAG.oid));
}

function readExtension(element: DerElement, into: CertificateFields): void {
  const parts = children(element);
  const oid = readOid(expectTag(parts[0], TAG.oid));
  const isCritical = parts[1]?.tag === TAG.boolean && readBoolean(parts[1]);
  const value = content(expectTag(parts.at(-1), TAG.octetString));
  into.extensions.add(oid);
  if (isCritical && !UNDERSTOOD.has(oid)) into.unknownCritical.push(oid);
  switch (oid) {
    case OID.keyUsage:
      into.keyUsage = readKeyUsage(value);
      return;
    case OID.extendedKeyUsage:
      into.extendedKeyUsage = children(readWhole(value, TAG.sequence)).map(readOid);
      return;
    case OID.basicConstraints:
      readBasicConstraints(value, into);
      return;
    case OID.proxyCertInfo:
    case OID.draftProxyCertInfo:
      into.proxy = readProxyCertInfo(value, isCritical);
  }
}

/** Bit 0 is the highest of the first byte. */
function readKeyUsage(value: Buffer): number {
  const bits = readBits(readWhole(value, TAG.bitString));
  let usage = 0;
  for (let bit = 0; bit < Math.min(bits.length * 8, 16); bit++) {
    if ((bits[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) usage |= 1 << bit;
  }
  return usage;
}

function readBasicConstraints(value: Buffer, into: CertificateFields): void {
  const parts = children(readWhole(value, TAG.sequence));
  const [first] = parts;
  if (first?.tag === TAG.boolean) into.isAuthority = readBoolean(first);
  const length = parts.find((part) => part.tag === TAG.integer);
  if (length !== undefined) into.pathLength = readSmallInteger(length);
}

/** SEQUENCE { pCPathLenConstraint INTEGER OPTIONAL, proxyPolicy SEQUENCE { language, policy OPTIONAL } }; drafts have them swapped. */
function readProxyCertInfo(value: Buffer, isCritical: boolean): ProxyCertInfo {
  const parts = children(readWhole(value, TAG.sequence));
  const policy = children(
    expectTag(
      parts.find((part) => part.tag === TAG.sequence),
      TAG.sequence,
    ),
  );
  const length = parts.find((part) => part.tag === TAG.integer);
  return {
    pathLength: length === undefined ? undefined : readSmallInteger(length),
    language: readOid(expectTag(policy[0], TAG.oid)),
    hasPolicy: policy[1] !== undefined,
    isCritical,
  };
}

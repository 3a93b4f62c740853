import 'reflect-metadata';
import { randomBytes, sign, X509Certificate } from 'node:crypto';
import {
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectAlternativeNameExtension,
  type Extension,
} from '@peculiar/x509';
import {
  issueCertificate,
  type CertificateOrder,
  type IssuedCertificate,
} from '../../src/x509/issuing/certificate-issuer.js';
import { certificateSubject, OID } from '../../src/x509/certificate/certificate-fields.js';
import { content, encodeElement, readWhole, TAG } from '../../src/x509/certificate/der.js';
import { decodePem, encodePem } from '../../src/x509/certificate/pem.js';

const DAY_MS = 86_400_000;
const INHERIT_ALL = '1.3.6.1.5.5.7.21.1';

/** What a proxy certificate is to have beside what all have. */
export interface ProxyOrder extends Omit<Partial<CertificateOrder>, 'issuer' | 'purpose'> {
  /** Policy language (OID). */
  proxyLanguage?: string;
}

/** A proxy certificate of the holder (RFC 3820): subject is the holder's, byte for byte, with one more CN. */
export async function issueProxyCertificate(
  holder: IssuedCertificate,
  order: ProxyOrder = {},
): Promise<IssuedCertificate> {
  const { proxyLanguage = INHERIT_ALL, pathLength, subjectAltNames = [], subject } = order;
  const names = subjectAltNames.map((value) => ({ type: 'dns' as const, value }));
  const own = order.extensions ?? [];
  const standard = [
    extensionOf(new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true)),
    { oid: OID.proxyCertInfo, critical: true, value: proxyCertInfo(proxyLanguage, pathLength) },
    ...(names.length > 0 ? [extensionOf(new SubjectAlternativeNameExtension(names))] : []),
  ].filter(({ oid }) => !own.some((extension) => extension.oid === oid));
  const proxy: CertificateOrder = {
    ...order,
    subject: subject ?? '/CN=proxy',
    purpose: 'plain',
    issuer: holder,
    extensions: [...standard, ...own],
  };
  return subject === undefined
    ? issueCertificate(proxy, proxyName(holder))
    : issueCertificate(proxy);
}

/** A certificate revocation list in PEM, signed by an EC key; `revoked` are certificates or serial numbers in hex. */
export function issueRevocationList(order: {
  issuer: IssuedCertificate;
  revoked: (IssuedCertificate | string)[];
  thisUpdate?: Date;
  /** One day from now by default. */
  nextUpdate?: Date;
}): string {
  const { issuer, revoked } = order;
  const thisUpdate = order.thisUpdate ?? new Date(Date.now() - 60_000);
  const nextUpdate = order.nextUpdate ?? new Date(Date.now() + DAY_MS);
  const entries = revoked.map((one) => {
    const serial =
      typeof one === 'string' ? one : new X509Certificate(one.certificatePem).serialNumber;
    return sequence(encodeElement(TAG.integer, serialBytes(serial)), encodeTime(thisUpdate));
  });
  const tbs = sequence(
    encodeElement(TAG.integer, Buffer.from([1])),
    ECDSA_SHA256,
    certificateSubject(derOf(issuer)),
    encodeTime(thisUpdate),
    encodeTime(nextUpdate),
    ...(entries.length === 0 ? [] : [sequence(...entries)]),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', tbs, issuer.keyPem)]);
  const list = sequence(tbs, ECDSA_SHA256, encodeElement(TAG.bitString, signature));
  return encodePem('X509 CRL', list);
}

const ECDSA_SHA256 = sequence(encodeOid('1.2.840.10045.4.3.2'));

function sequence(...parts: Buffer[]): Buffer {
  return encodeElement(TAG.sequence, Buffer.concat(parts));
}

/** A leading zero keeps the number positive. */
function serialBytes(hex: string): Buffer {
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
}

/** UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280 §5.1.2.4). */
function encodeTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  const isUtc = date.getUTCFullYear() < 2050;
  const text = isUtc ? digits.slice(2) : digits;
  return encodeElement(isUtc ? TAG.utcTime : TAG.generalizedTime, Buffer.from(text, 'latin1'));
}

function extensionOf({ type, critical, value }: Extension): {
  oid: string;
  critical: boolean;
  value: Buffer;
} {
  return { oid: type, critical, value: Buffer.from(value) };
}

function derOf(holder: IssuedCertificate): Buffer {
  return decodePem(holder.certificatePem)[0]?.der ?? Buffer.alloc(0);
}

function nameOf(holder: IssuedCertificate): Name {
  return new Name(new Uint8Array(certificateSubject(derOf(holder))));
}

function proxyName(holder: IssuedCertificate): Name {
  const number = randomBytes(4).readUInt32BE(0);
  const names = [nameOf(holder), new Name([{ CN: [String(number)] }])];
  const parts = names.map((name) =>
    content(readWhole(Buffer.from(name.toArrayBuffer()), TAG.sequence)),
  );
  return new Name(new Uint8Array(encodeElement(TAG.sequence, Buffer.concat(parts))));
}

/** RFC 3820 §3.8: SEQUENCE { pathlen INTEGER OPTIONAL, SEQUENCE { language OID } }. */
function proxyCertInfo(policyLanguage: string, pathLength: number | undefined): Buffer {
  const language = encodeOid(policyLanguage);
  const policy = Buffer.concat([Buffer.from([0x30, language.length]), language]);
  const length = pathLength === undefined ? Buffer.alloc(0) : Buffer.from([2, 1, pathLength]);
  return Buffer.concat([Buffer.from([0x30, length.length + policy.length]), length, policy]);
}

function encodeOid(oid: string): Buffer {
  const [first = 0, second = 0, ...rest] = oid.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return Buffer.from([0x06, bytes.length, ...bytes]);
}

import 'reflect-metadata';
import { randomBytes, sign, webcrypto, X509Certificate } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  AuthorityKeyIdentifierExtension,
  X509CertificateGenerator,
  type JsonGeneralName,
  type JsonNameParams,
} from '@peculiar/x509';
import { isIP } from 'node:net';
import { oidOfAttributeType } from '../certificate/attribute-types.js';
import { certificateSubject, OID } from '../certificate/certificate-fields.js';
import { content, encodeElement, readWhole, TAG } from '../certificate/der.js';
import { parseDn } from '../certificate/distinguished-name.js';
import { decodePem, encodePem } from '../certificate/pem.js';

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;

/** A certificate with its private key, both PEM. */
export interface IssuedCertificate {
  certificatePem: string;
  /** PKCS #8, not encrypted. */
  keyPem: string;
}

/** What to issue. Times default to five minutes ago and one year from now. */
export interface CertificateOrder {
  /** DN in any spelling that canonicalDn takes, for example `/DC=org/DC=grid/CN=alice`. */
  subject: string;
  /** Who signs; without it the certificate is self-signed. */
  issuer?: IssuedCertificate;
  /**
   * `ca`: may sign certificates and CRLs · `client` · `server` · `proxy` (RFC 3820, signed by the user's key) ·
   * `plain`: no extension at all beside `extensions`.
   */
  purpose: 'ca' | 'client' | 'server' | 'proxy' | 'plain';
  notBefore?: Date;
  notAfter?: Date;
  /** Host names and IP addresses. */
  subjectAltNames?: string[];
  /** Of a CA or a proxy. */
  pathLength?: number;
  /** Policy language of a proxy (OID); inheritAll by default. */
  proxyLanguage?: string;
  /** Hex; random by default. */
  serialNumber?: string;
  /** Further extensions, or replacements for those of the purpose (same OID). */
  extensions?: { oid: string; critical: boolean; value: Buffer }[];
  /** Key pair to certify; a new EC P-256 pair by default. */
  keyPem?: string;
}

/** Issues an X.509 version 3 certificate for a new EC P-256 key (RFC 5280). For development and tests. */
export async function issueCertificate(order: CertificateOrder): Promise<IssuedCertificate> {
  return issue(order, new Name(jsonName(order.subject)));
}

async function issue(order: CertificateOrder, subject: Name): Promise<IssuedCertificate> {
  const keys = await keyPair(order.keyPem);
  const signer = order.issuer === undefined ? keys : await keyPair(order.issuer.keyPem);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: order.serialNumber ?? randomSerial(),
    subject,
    issuer: order.issuer === undefined ? subject : nameOfHolder(order.issuer),
    notBefore: order.notBefore ?? new Date(Date.now() - 5 * 60_000),
    notAfter: order.notAfter ?? new Date(Date.now() + 365 * DAY_MS),
    publicKey: keys.publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: SIGNING,
    extensions: await extensionsOf(order, keys, signer),
  });
  return {
    certificatePem: encodePem('CERTIFICATE', new Uint8Array(certificate.rawData)),
    keyPem: keys.pem,
  };
}

/** A proxy certificate of the holder (RFC 3820): subject is the holder's with one more CN. */
export async function issueProxyCertificate(
  holder: IssuedCertificate,
  options: Omit<Partial<CertificateOrder>, 'issuer' | 'purpose'> = {},
): Promise<IssuedCertificate> {
  const number = randomBytes(4).readUInt32BE(0);
  const order: CertificateOrder = { subject: '', ...options, purpose: 'proxy', issuer: holder };
  const subject = order.subject === '' ? proxyName(holder, String(number)) : undefined;
  return issue(order, subject ?? new Name(jsonName(order.subject)));
}

/** The holder's name byte for byte, and one CN. */
function proxyName(holder: IssuedCertificate, commonName: string): Name {
  const own = Buffer.from(nameOfHolder(holder).toArrayBuffer());
  const more = Buffer.from(new Name(jsonName(`/CN=${commonName}`)).toArrayBuffer());
  const parts = [own, more].map((der) => content(readWhole(der, TAG.sequence)));
  return new Name(new Uint8Array(encodeElement(TAG.sequence, Buffer.concat(parts))));
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

interface Keys {
  publicKey: PublicKey;
  privateKey: webcrypto.CryptoKey;
  pem: string;
}

async function keyPair(pem?: string): Promise<Keys> {
  const { subtle } = webcrypto;
  if (pem !== undefined) {
    const der = decodePem(pem)[0]?.der;
    if (der === undefined) throw new Error('the private key is no PEM');
    const privateKey = await subtle.importKey('pkcs8', der, CURVE, true, ['sign']);
    const { kty, crv, x, y } = await subtle.exportKey('jwk', privateKey);
    const open = await subtle.importKey('jwk', { kty, crv, x, y } as never, CURVE, true, [
      'verify',
    ]);
    return { publicKey: await publicKeyOf(open), privateKey, pem };
  }
  const pair = await subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const pkcs8 = await subtle.exportKey('pkcs8', pair.privateKey);
  return {
    publicKey: await publicKeyOf(pair.publicKey),
    privateKey: pair.privateKey,
    pem: encodePem('PRIVATE KEY', new Uint8Array(pkcs8)),
  };
}

async function publicKeyOf(key: webcrypto.CryptoKey): Promise<PublicKey> {
  return new PublicKey(await webcrypto.subtle.exportKey('spki', key));
}

/** The signer's name exactly as its certificate has it, string types included. */
function nameOfHolder(holder: IssuedCertificate): Name {
  return new Name(new Uint8Array(certificateSubject(derOf(holder))));
}

function derOf(holder: IssuedCertificate): Buffer {
  const der = decodePem(holder.certificatePem)[0]?.der;
  if (der === undefined) throw new Error('the issuer certificate is no PEM');
  return der;
}

function jsonName(dn: string): JsonNameParams {
  return parseDn(dn).map((name) => {
    const attributes: Record<string, { ia5String?: string; utf8String?: string }[]> = {};
    for (const { type, value } of name) {
      const isIa5 = type === 'DC' || type === 'emailAddress';
      const text = isIa5 ? { ia5String: value } : { utf8String: value };
      (attributes[oidOfAttributeType(type)] ??= []).push(text);
    }
    return attributes;
  });
}

/** 16 bytes, positive: the first byte below 0x80 and not zero. */
function randomSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

async function extensionsOf(
  order: CertificateOrder,
  keys: Keys,
  signer: Keys,
): Promise<Extension[]> {
  const own = (order.extensions ?? []).map(
    ({ oid, critical, value }) => new Extension(oid, critical, new Uint8Array(value)),
  );
  if (order.purpose === 'plain') return own;
  const standard = [
    ...purposeExtensions(order),
    await SubjectKeyIdentifierExtension.create(keys.publicKey),
    await AuthorityKeyIdentifierExtension.create(signer.publicKey),
  ];
  if (order.subjectAltNames !== undefined) {
    const names = order.subjectAltNames.map(generalName);
    standard.push(new SubjectAlternativeNameExtension(names));
  }
  const replaced = new Set(own.map((extension) => extension.type));
  return [...standard.filter((extension) => !replaced.has(extension.type)), ...own];
}

function generalName(name: string): JsonGeneralName {
  return { type: isIP(name) === 0 ? 'dns' : 'ip', value: name };
}

function purposeExtensions(order: CertificateOrder): Extension[] {
  const { digitalSignature, keyCertSign, cRLSign } = KeyUsageFlags;
  switch (order.purpose) {
    case 'ca':
      return [
        new BasicConstraintsExtension(true, order.pathLength, true),
        new KeyUsagesExtension(keyCertSign | cRLSign, true),
      ];
    case 'client':
    case 'server': {
      const usage = order.purpose === 'client' ? OID.clientAuth : '1.3.6.1.5.5.7.3.1';
      return [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(digitalSignature, true),
        new ExtendedKeyUsageExtension([usage]),
      ];
    }
    case 'proxy':
      return [
        new KeyUsagesExtension(digitalSignature, true),
        new Extension(OID.proxyCertInfo, true, new Uint8Array(proxyCertInfo(order))),
      ];
    case 'plain':
      return [];
  }
}

/** RFC 3820 §3.8: SEQUENCE { pathlen INTEGER OPTIONAL, SEQUENCE { language OID } }. */
function proxyCertInfo(order: CertificateOrder): Buffer {
  const language = encodeOid(order.proxyLanguage ?? '1.3.6.1.5.5.7.21.1');
  const policy = Buffer.concat([Buffer.from([0x30, language.length]), language]);
  const { pathLength } = order;
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

import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
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
   * `ca`: may sign certificates and CRLs · `client` · `server` · `plain`: no extension at all beside `extensions`.
   */
  purpose: 'ca' | 'client' | 'server' | 'plain';
  notBefore?: Date;
  notAfter?: Date;
  /** Host names and IP addresses. */
  subjectAltNames?: string[];
  /** Of a CA. */
  pathLength?: number;
  /** Hex; random by default. */
  serialNumber?: string;
  /** Further extensions, or replacements for those of the purpose (same OID). */
  extensions?: { oid: string; critical: boolean; value: Buffer }[];
  /** Key pair to certify; a new EC P-256 pair by default. */
  keyPem?: string;
}

/** Issues an X.509 version 3 certificate for a new EC P-256 key (RFC 5280). For development and tests. */
export async function issueCertificate(
  order: CertificateOrder,
  subject = new Name(jsonName(order.subject)),
): Promise<IssuedCertificate> {
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
    case 'plain':
      return [];
  }
}

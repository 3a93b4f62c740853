import {
  constants,
  createHash,
  createVerify,
  verify,
  type VerifyKeyObjectInput,
} from 'node:crypto';
import { promisify } from 'node:util';
import type { ChainLink } from '../certificate/chain-link.js';
import {
  children,
  DerError,
  encoded,
  expectTag,
  readBits,
  readBoolean,
  readOid,
  readTime,
  readWhole,
  TAG,
  type DerElement,
} from '../certificate/der.js';
import { SerialIndex } from '../certificate/serial-index.js';
import { Slices } from '#src/kernel/index.js';

/** The same check as `verify`, in a thread of libuv; it begins with a copy of all bytes. */
const verifyElsewhere = promisify<string | null, Buffer, VerifyKeyObjectInput, Buffer, boolean>(
  verify,
);
const HASH_SLICE = 1024 * 1024;

const DELTA_INDICATOR = '2.5.29.27';
const AUTHORITY_KEY_IDENTIFIER = '2.5.29.35';
const CRL_NUMBER = '2.5.29.20';
const RSA_PSS = '1.2.840.113549.1.1.10';

/** Hashes of the signature algorithms that are accepted; undefined: the algorithm has its own (Ed25519). */
const HASHES: Record<string, string | null> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
  '1.3.101.113': null,
};
const HASH_OIDS: Record<string, string> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

/** A certificate revocation list (RFC 5280 §5), read but not yet trusted: see isSignedBy. */
export class RevocationList {
  /** Signature checks that need not be repeated: by the CA's fingerprint. A list may have 50 MB. */
  private readonly checked = new Map<string, boolean>();

  constructor(
    private readonly signed: { scheme: SignatureScheme; tbs: Buffer; signature: Buffer },
    /** DER of the issuer's name. */
    readonly issuer: Buffer,
    /** Milliseconds since 1970. */
    readonly thisUpdate: number,
    readonly nextUpdate: number | undefined,
    readonly revoked: SerialIndex,
    /** SHA-256 of the list, hex. */
    readonly fingerprint: string,
  ) {}

  /** Checks the signature in slices, for isSignedBy to know. Never throws. */
  async check(issuer: ChainLink, slices: Slices): Promise<void> {
    if (this.checked.has(issuer.fingerprint)) return;
    const isGood = await this.isGood(issuer, slices).catch(() => false);
    this.checked.set(issuer.fingerprint, isGood);
  }

  private async isGood(issuer: ChainLink, slices: Slices): Promise<boolean> {
    const { scheme, tbs, signature } = this.signed;
    const key = { key: issuer.publicKey, ...scheme.options };
    if (scheme.hash === null) return verifyElsewhere(null, tbs, key, signature);
    const verifier = createVerify(scheme.hash);
    await inSlices(tbs, slices, (part) => verifier.update(part));
    return verifier.verify(key, signature);
  }

  /** Whether the CA has signed this list; at once when `check` was called for it. */
  isSignedBy(issuer: ChainLink): boolean {
    const known = this.checked.get(issuer.fingerprint);
    if (known !== undefined) return known;
    const { scheme, tbs, signature } = this.signed;
    try {
      return verify(scheme.hash, tbs, { key: issuer.publicKey, ...scheme.options }, signature);
    } catch {
      return false;
    }
  }
}

/**
 * Reads a DER revocation list of any length, in slices. asn1js stops at 10,000 nodes (3,300 entries), lists of real CAs
 * are larger. Throws DerError, also for lists that are only a part (deltas, lists limited to some certificates) and so
 * could not answer for all.
 */
export async function readRevocationList(
  der: Buffer,
  slices: Slices = new Slices(),
): Promise<RevocationList> {
  const [tbs, algorithm, signature] = children(readWhole(der, TAG.sequence));
  const signed = expectTag(tbs, TAG.sequence);
  const scheme = signatureScheme(expectTag(algorithm, TAG.sequence));
  const signatureBytes = readBits(expectTag(signature, TAG.bitString));
  const fields = children(signed);
  if (fields[0]?.tag === TAG.integer) fields.shift();
  const [, issuer, thisUpdate, ...rest] = fields;
  if (thisUpdate === undefined) throw new DerError('the list has no date');
  const next = isTime(rest[0]) ? rest.shift() : undefined;
  const entries = rest[0]?.tag === TAG.sequence ? rest.shift() : undefined;
  const extensions = rest.find((field) => field.tag === 0xa0);
  if (extensions !== undefined) refusePartialLists(extensions);
  return new RevocationList(
    { scheme, tbs: encoded(signed), signature: signatureBytes },
    encoded(expectTag(issuer, TAG.sequence)),
    readTime(thisUpdate),
    next === undefined ? undefined : readTime(next),
    await SerialIndex.of(entries, slices),
    await fingerprintOf(der, slices),
  );
}

async function fingerprintOf(der: Buffer, slices: Slices): Promise<string> {
  const hash = createHash('sha256');
  await inSlices(der, slices, (part) => hash.update(part));
  return hash.digest('hex');
}

async function inSlices(
  bytes: Buffer,
  slices: Slices,
  take: (part: Buffer) => void,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += HASH_SLICE) {
    take(bytes.subarray(at, at + HASH_SLICE));
    if (slices.isOver) await slices.rest();
  }
}

function isTime(element: DerElement | undefined): element is DerElement {
  return element?.tag === TAG.utcTime || element?.tag === TAG.generalizedTime;
}

function refusePartialLists(wrapper: DerElement): void {
  for (const extension of children(expectTag(children(wrapper)[0], TAG.sequence))) {
    const parts = children(extension);
    const oid = readOid(expectTag(parts[0], TAG.oid));
    if (oid === AUTHORITY_KEY_IDENTIFIER || oid === CRL_NUMBER) continue;
    const isCritical = parts[1]?.tag === TAG.boolean && readBoolean(parts[1]);
    if (isCritical || oid === DELTA_INDICATOR) {
      throw new DerError(`the list covers only a part (extension ${oid})`);
    }
  }
}

interface SignatureScheme {
  hash: string | null;
  options: { padding?: number; saltLength?: number };
}

function signatureScheme(algorithm: DerElement): SignatureScheme {
  const [type, parameters] = children(algorithm);
  const oid = readOid(expectTag(type, TAG.oid));
  const hash = HASHES[oid];
  if (hash !== undefined) return { hash, options: {} };
  if (oid !== RSA_PSS || parameters === undefined) {
    throw new DerError(`the signature algorithm ${oid} is not accepted`);
  }
  const wrapper = children(parameters).find((part) => part.tag === 0xa0);
  const name = wrapper === undefined ? undefined : children(wrapper)[0];
  const pssHash =
    name === undefined ? undefined : HASH_OIDS[readOid(expectTag(children(name)[0], TAG.oid))];
  if (pssHash === undefined)
    throw new DerError('the hash of the RSA-PSS signature is not accepted');
  return {
    hash: pssHash,
    options: {
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_AUTO,
    },
  };
}

import { createHash } from 'node:crypto';
import {
  children,
  content,
  encoded,
  encodeElement,
  readWhole,
  TAG,
  type DerElement,
} from '../certificate/der.js';
import { decodeText } from '../certificate/distinguished-name.js';

/**
 * The two names that OpenSSL gives to files about a CA, from the DER of its name: `openssl x509 -subject_hash` (since
 * 1.0.0) and `-subject_hash_old`. Eight hex digits each. Throws DerError.
 */
export function nameHashes(name: Buffer): [hash: string, oldHash: string] {
  return [digits('sha1', canonicalName(name)), digits('md5', name)];
}

/** The first four bytes, lowest first. */
function digits(algorithm: string, bytes: Buffer): string {
  const hash = createHash(algorithm).update(bytes).digest();
  return hash.readUInt32LE(0).toString(16).padStart(8, '0');
}

/** OpenSSL's canonical encoding (x509_name_canon): the SETs alone, texts as UTF-8 in small letters, blanks collapsed. */
function canonicalName(name: Buffer): Buffer {
  const sets = children(readWhole(name, TAG.sequence)).map((set) => {
    const attributes = children(set).map((attribute) => {
      const [type, value] = children(attribute) as [DerElement, DerElement];
      return encodeElement(TAG.sequence, Buffer.concat([encoded(type), canonicalValue(value)]));
    });
    return encodeElement(TAG.set, Buffer.concat(attributes.sort((a, b) => Buffer.compare(a, b))));
  });
  return Buffer.concat(sets);
}

function canonicalValue(value: DerElement): Buffer {
  const text = value.tag === TAG.numericString ? undefined : decodeText(value);
  if (text === undefined || content(value).length === 0) return encoded(value);
  const words = text.split(/[ \t\n\v\f\r]/).filter((word) => word !== '');
  const small = words.join(' ').replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return encodeElement(TAG.utf8String, Buffer.from(small, 'utf8'));
}

/** ASN.1 universal and context tags that certificates and revocation lists use. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The bytes are no DER of the expected kind. */
export class DerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DerError';
  }
}

/** One element: `bytes[start, end)` as a whole, `bytes[from, end)` its content. */
export interface DerElement {
  bytes: Buffer;
  tag: number;
  start: number;
  from: number;
  end: number;
}

/** Reads the element at `offset`; it must end at or before `limit`. Definite lengths only (X.690 §10.1). */
export function readElement(bytes: Buffer, offset = 0, limit = bytes.length): DerElement {
  const tag = bytes[offset];
  const first = bytes[offset + 1];
  if (tag === undefined || first === undefined || offset + 2 > limit) {
    throw new DerError(`the data ends at byte ${offset}, where an element was expected`);
  }
  if ((tag & 0x1f) === 0x1f) throw new DerError(`a tag of several bytes at byte ${offset}`);
  let from = offset + 2;
  let length = first;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4 || from + count > limit) {
      throw new DerError(`a length that is not DER at byte ${offset}`);
    }
    length = bytes.readUIntBE(from, count);
    from += count;
  }
  const end = from + length;
  if (end > limit) throw new DerError(`the element at byte ${offset} is longer than what holds it`);
  return { bytes, tag, start: offset, from, end };
}

/** Reads the whole of `bytes` as one element with that tag, nothing after it. */
export function readWhole(bytes: Buffer, tag: number): DerElement {
  const element = readElement(bytes);
  if (element.end !== bytes.length) throw new DerError('there are bytes after the end');
  return expectTag(element, tag);
}

/** The element itself when it has that tag. */
export function expectTag(element: DerElement | undefined, tag: number): DerElement {
  if (element === undefined) throw new DerError('an element is missing');
  if (element.tag === tag) return element;
  throw new DerError(
    `tag 0x${element.tag.toString(16)} where 0x${tag.toString(16)} was expected, at byte ${element.start}`,
  );
}

/** The elements inside a constructed one. */
export function children(parent: DerElement): DerElement[] {
  const found: DerElement[] = [];
  for (let offset = parent.from; offset < parent.end;) {
    const child = readElement(parent.bytes, offset, parent.end);
    found.push(child);
    offset = child.end;
  }
  return found;
}

/** The content bytes, without tag and length (a view, not a copy). */
export function content(element: DerElement): Buffer {
  return element.bytes.subarray(element.from, element.end);
}

/** The element with tag and length (a view, not a copy). */
export function encoded(element: DerElement): Buffer {
  return element.bytes.subarray(element.start, element.end);
}

/** An object identifier in dotted form. */
export function readOid(element: DerElement): string {
  const arcs: (number | bigint)[] = [];
  let arc: number | bigint = 0;
  let isOpen = false;
  for (const byte of content(expectTag(element, TAG.oid))) {
    const group = byte & 0x7f;
    // Numbers as long as they are exact: this runs for every extension of every certificate.
    if (typeof arc === 'number' && arc < 2 ** 45) arc = arc * 128 + group;
    else arc = BigInt(arc) * 128n + BigInt(group);
    isOpen = (byte & 0x80) !== 0;
    if (isOpen) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first, ...rest] = arcs;
  if (first === undefined || isOpen) throw new DerError('an object identifier that does not end');
  const root = first < 40 ? 0 : first < 80 ? 1 : 2;
  const second = typeof first === 'number' ? first - root * 40 : first - BigInt(root * 40);
  return [root, second, ...rest].join('.');
}

/** A small non-negative integer (path lengths, versions). */
export function readSmallInteger(element: DerElement): number {
  const bytes = content(expectTag(element, TAG.integer));
  if (bytes.length === 0 || bytes.length > 4 || (bytes[0] ?? 0) & 0x80) {
    throw new DerError('an integer that is negative or too large');
  }
  return bytes.readUIntBE(0, bytes.length);
}

export function readBoolean(element: DerElement): boolean {
  return content(expectTag(element, TAG.boolean))[0] !== 0;
}

/** Milliseconds since 1970 of a UTCTime (years 1950 to 2049) or GeneralizedTime (RFC 5280 §4.1.2.5). */
export function readTime(element: DerElement): number {
  const text = content(element).toString('latin1');
  const isUtc = element.tag === TAG.utcTime;
  if (!isUtc && element.tag !== TAG.generalizedTime) throw new DerError('a time was expected');
  const match = (
    isUtc
      ? /^(\d\d)(\d{2})(\d\d)(\d\d)(\d\d)(\d\d)?Z$/
      : /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?Z$/
  ).exec(text);
  if (match === null) throw new DerError(`the time "${text}" is not in the form of RFC 5280`);
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0));
  const full = isUtc ? (year < 50 ? 2000 + year : 1900 + year) : year;
  return Date.UTC(full, month - 1, day, hour, minute, second);
}

/** The content of a BIT STRING without the byte that counts unused bits. */
export function readBits(element: DerElement): Buffer {
  const bytes = content(expectTag(element, TAG.bitString));
  if (bytes.length === 0) throw new DerError('an empty bit string');
  return bytes.subarray(1);
}

/** Writes one element: tag, definite length, content. */
export function encodeElement(tag: number, value: Buffer): Buffer {
  const { length } = value;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), value]);
  const digits = Buffer.alloc(4);
  digits.writeUInt32BE(length);
  const bare = digits.subarray(digits.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.from([tag, 0x80 | bare.length]), bare, value]);
}

import { X509Certificate } from 'node:crypto';
import { attributeTypeOf, attributeTypeOfOid } from './attribute-types.js';
import { children, content, encoded, readOid, readWhole, TAG, type DerElement } from './der.js';
import { certificateSubject } from './certificate-fields.js';

/** One attribute of a name: canonical type and value. */
export interface NameAttribute {
  type: string;
  value: string;
  /** The value is no text: `value` is `#` and its DER in hex (RFC 4514 §2.4). */
  isBinary?: true;
}

/** A relative name: one attribute, seldom several. */
export type RelativeName = NameAttribute[];

/** The text (or the certificate's subject) is no distinguished name; the message says what is wrong. */
export class DistinguishedNameError extends Error {
  constructor(problem: string, text: string) {
    const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    super(`not a distinguished name: ${problem}: "${shown}"`);
    this.name = 'DistinguishedNameError';
  }
}

const MAX_LENGTH = 4_096;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const SLASH_START = /^\/\s*[A-Za-z0-9.-]+\s*=/;
/** In slash form `/` and `+` separate only where a type follows: `CN=host/node.grid.org` is one value. */
const NEXT_ATTRIBUTE = /^([A-Za-z][A-Za-z0-9-]*|(?:OID\.)?\d+(?:\.\d+)+)=/i;

/**
 * The one canonical form of a distinguished name: slash form in the order of the certificate
 * (`/DC=org/DC=grid/CN=alice`), whatever spelling it arrives in: slash form, RFC 4514 and RFC 2253 (reversed,
 * escapes, quotes, hex values, several attributes in one part), or comma form in certificate order. Types are
 * normalised, values are compared letter by letter. Throws DistinguishedNameError. See docs/design/x509.md.
 */
export function canonicalDn(text: string): string {
  return formatDn(parseDn(text));
}

/** Canonical DN of a certificate's subject. Throws DistinguishedNameError or DerError. */
export function dnOfCertificate(certificate: X509Certificate | Buffer): string {
  const raw = certificate instanceof X509Certificate ? certificate.raw : certificate;
  return formatDn(decodeName(certificateSubject(raw)));
}

/** Parses any accepted spelling to relative names in certificate order. */
export function parseDn(text: string): RelativeName[] {
  const trimmed = text.trim();
  if (trimmed === '') throw new DistinguishedNameError('it is empty', text);
  if (trimmed.length > MAX_LENGTH) {
    throw new DistinguishedNameError(`it is longer than ${MAX_LENGTH} characters`, trimmed);
  }
  if (trimmed.startsWith('/')) return parseSlashForm(trimmed);
  return inCertificateOrder(parseCommaForm(trimmed));
}

/** Writes relative names in canonical form. */
export function formatDn(names: RelativeName[]): string {
  return names
    .map((name) => {
      const attributes = name.map(
        ({ type, value, isBinary }) => `${type}=${isBinary ? value : escapeValue(value)}`,
      );
      // The order inside a SET has no meaning: sorted, so that there is one spelling.
      return `/${attributes.length === 1 ? attributes[0] : attributes.sort().join('+')}`;
    })
    .join('');
}

const MAY_NEED_ESCAPE = /[\\/+\p{Cc}]|^[ #]| $/u;

/** What would be read as something else is written as \xHH, the way OpenSSL writes odd bytes. */
function escapeValue(value: string): string {
  if (!MAY_NEED_ESCAPE.test(value)) return value;
  let escaped = '';
  for (let index = 0; index < value.length; index++) {
    const character = value[index] ?? '';
    const code = value.charCodeAt(index);
    const isEdgeBlank = character === ' ' && (index === 0 || index === value.length - 1);
    const isSeparator =
      (character === '/' || character === '+') && NEXT_ATTRIBUTE.test(value.slice(index + 1));
    const isBinaryMark = character === '#' && index === 0;
    const isOdd = code < 0x20 || code === 0x7f || character === '\\';
    escaped +=
      isOdd || isEdgeBlank || isSeparator || isBinaryMark
        ? `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`
        : character;
  }
  return escaped;
}

function parseSlashForm(text: string): RelativeName[] {
  if (!SLASH_START.test(text)) {
    throw new DistinguishedNameError('"/" must be followed by type=value', text);
  }
  const names: RelativeName[] = [];
  let rest = text;
  while (rest !== '') {
    const isNewName = rest.startsWith('/');
    const match = NEXT_ATTRIBUTE.exec(rest.slice(1));
    if (match?.[1] === undefined) throw new DistinguishedNameError('type=value is expected', text);
    const type = knownType(match[1], text);
    const body = rest.slice(1 + match[0].length);
    const length = slashValueLength(body);
    const attribute = { type, ...slashValue(body.slice(0, length), text) };
    requireValue(attribute, text);
    if (isNewName) names.push([attribute]);
    else names.at(-1)?.push(attribute);
    rest = body.slice(length);
  }
  return names;
}

/** Up to the next `/type=` or `+type=`; a final slash or plus belongs to the value. */
function slashValueLength(body: string): number {
  for (let index = 0; index < body.length; index++) {
    const character = body[index];
    if (character !== '/' && character !== '+') continue;
    if (NEXT_ATTRIBUTE.test(body.slice(index + 1))) return index;
  }
  return body.length;
}

type AttributeValue = Omit<NameAttribute, 'type'>;

function slashValue(value: string, text: string): AttributeValue {
  if (/^#(?:[0-9A-Fa-f]{2})+$/.test(value)) return decodeHex(value);
  return { value: unescapeSlashValue(value, text) };
}

function decodeHex(value: string): AttributeValue {
  const der = Buffer.from(value.slice(1), 'hex');
  try {
    return decodeValue(readWhole(der, der[0] ?? 0));
  } catch (error) {
    if (error instanceof DistinguishedNameError) throw error;
    throw new DistinguishedNameError('a hex value is no DER', value);
  }
}

/** `\xHH` is a byte of UTF-8; any other backslash has no agreed meaning in this form. */
function unescapeSlashValue(value: string, text: string): string {
  if (!value.includes('\\')) return value;
  const bytes: Buffer[] = [];
  for (const part of value.split(/(\\x[0-9A-Fa-f]{2})/)) {
    if (/^\\x[0-9A-Fa-f]{2}$/.test(part)) bytes.push(Buffer.from(part.slice(2), 'hex'));
    else if (part.includes('\\')) {
      throw new DistinguishedNameError(
        'a backslash must be followed by x and two hex digits',
        text,
      );
    } else bytes.push(Buffer.from(part, 'utf8'));
  }
  return decodeUtf8(Buffer.concat(bytes), text);
}

function knownType(spelling: string, text: string): string {
  const type = attributeTypeOf(spelling.trim());
  if (type !== undefined) return type;
  throw new DistinguishedNameError(`the attribute type "${spelling.trim()}" is not known`, text);
}

function requireValue({ type, value }: NameAttribute, text: string): void {
  if (value === '') throw new DistinguishedNameError(`${type} has no value`, text);
}

/** Throws DistinguishedNameError, which names the text that they stand in. */
export function decodeUtf8(bytes: Buffer, text: string): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new DistinguishedNameError('a value is not UTF-8', text);
  }
}

/** Cursor over a comma form. */
interface Cursor {
  text: string;
  at: number;
}

function parseCommaForm(text: string): RelativeName[] {
  const cursor = { text, at: 0 };
  const names: RelativeName[] = [];
  let separator: string | undefined = ',';
  while (separator !== undefined) {
    const attribute = parseAttribute(cursor);
    if (separator === '+') names.at(-1)?.push(attribute);
    else names.push([attribute]);
    separator = cursor.text[cursor.at];
    cursor.at++;
  }
  return names;
}

function parseAttribute(cursor: Cursor): NameAttribute {
  const equals = cursor.text.indexOf('=', cursor.at);
  const spelling = equals < 0 ? '' : cursor.text.slice(cursor.at, equals).trim();
  if (!/^[A-Za-z0-9.-]+$/.test(spelling)) {
    throw new DistinguishedNameError(
      `type=value is expected at character ${cursor.at + 1}`,
      cursor.text,
    );
  }
  const type = knownType(spelling, cursor.text);
  cursor.at = equals + 1;
  while (cursor.text[cursor.at] === ' ') cursor.at++;
  const first = cursor.text[cursor.at];
  const value =
    first === '#'
      ? hexValue(cursor)
      : { value: first === '"' ? quotedValue(cursor) : plainValue(cursor) };
  const attribute = { type, ...value };
  requireValue(attribute, cursor.text);
  return attribute;
}

/** RFC 4514 §2.4: `#` and the hex of the value's DER. */
function hexValue(cursor: Cursor): AttributeValue {
  const match = /^(#(?:[0-9A-Fa-f]{2})+) *(?=[,;+]|$)/.exec(cursor.text.slice(cursor.at));
  if (match?.[1] === undefined) {
    throw new DistinguishedNameError('"#" must be followed by pairs of hex digits', cursor.text);
  }
  cursor.at += match[0].length;
  return decodeHex(match[1]);
}

/** RFC 2253 §4: the quoted values of RFC 1779 are accepted. */
function quotedValue(cursor: Cursor): string {
  const bytes: Buffer[] = [];
  cursor.at++;
  for (;;) {
    const character = codePointAt(cursor);
    if (character === '') throw new DistinguishedNameError('a quote is not closed', cursor.text);
    if (character === '"') break;
    bytes.push(character === '\\' ? escapedByte(cursor) : take(cursor, character));
  }
  cursor.at++;
  while (cursor.text[cursor.at] === ' ') cursor.at++;
  if (!/^(?:[,;+]|$)/.test(cursor.text.slice(cursor.at, cursor.at + 1))) {
    throw new DistinguishedNameError('a separator is expected after a quoted value', cursor.text);
  }
  return decodeUtf8(Buffer.concat(bytes), cursor.text);
}

function plainValue(cursor: Cursor): string {
  const bytes: Buffer[] = [];
  let kept = 0;
  for (;;) {
    const character = codePointAt(cursor);
    if (character === '' || ',;+'.includes(character)) break;
    if ('"<>'.includes(character)) {
      throw new DistinguishedNameError(`"${character}" must be escaped`, cursor.text);
    }
    bytes.push(character === '\\' ? escapedByte(cursor) : take(cursor, character));
    // Blanks at the end do not count unless they are escaped.
    if (character !== ' ') kept = bytes.length;
  }
  return decodeUtf8(Buffer.concat(bytes.slice(0, kept)), cursor.text);
}

function codePointAt(cursor: Cursor): string {
  const code = cursor.text.codePointAt(cursor.at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function take(cursor: Cursor, character: string): Buffer {
  cursor.at += character.length;
  return Buffer.from(character, 'utf8');
}

function escapedByte(cursor: Cursor): Buffer {
  const after = cursor.text.slice(cursor.at + 1, cursor.at + 3);
  if (/^[0-9A-Fa-f]{2}$/.test(after)) {
    cursor.at += 3;
    return Buffer.from(after, 'hex');
  }
  const character = after[0] ?? '';
  if (character === '' || !' "#+,;<=>\\/'.includes(character)) {
    throw new DistinguishedNameError('a backslash escapes nothing here', cursor.text);
  }
  cursor.at += 2;
  return Buffer.from(character, 'utf8');
}

const ROOT_TYPES = new Set(['C', 'DC', 'O']);
const LEAF_TYPES = new Set(['CN', 'UID', 'emailAddress', 'serialNumber']);

/**
 * RFC 4514 writes a name backwards, and so do nginx and LDAP; OpenSSL and people write the same commas in
 * certificate order. A name that begins with its root and ends with its leaf is in certificate order.
 */
function inCertificateOrder(names: RelativeName[]): RelativeName[] {
  const first = names[0]?.[0]?.type ?? '';
  const last = names.at(-1)?.[0]?.type ?? '';
  return ROOT_TYPES.has(first) && LEAF_TYPES.has(last) ? names : names.reverse();
}

/** Decodes a DER name (SEQUENCE OF SET OF attribute). */
export function decodeName(der: Buffer): RelativeName[] {
  const names = children(readWhole(der, TAG.sequence)).map((set) =>
    children(set).map((attribute) => {
      const [type, value] = children(attribute);
      if (type === undefined || value === undefined) {
        throw new DistinguishedNameError('an attribute is incomplete', der.toString('hex'));
      }
      const decoded = { type: attributeTypeOfOid(readOid(type)), ...decodeValue(value) };
      requireValue(decoded, der.toString('hex'));
      return decoded;
    }),
  );
  if (names.length === 0 || names.some((name) => name.length === 0)) {
    throw new DistinguishedNameError('it is empty', '');
  }
  return names;
}

function decodeValue(element: DerElement): AttributeValue {
  const value = decodeText(element);
  if (value !== undefined) return { value };
  return { value: `#${encoded(element).toString('hex')}`, isBinary: true };
}

/** The text of an attribute's value; undefined when its type is none of text. Throws DistinguishedNameError. */
export function decodeText(element: DerElement): string | undefined {
  const bytes = content(element);
  switch (element.tag) {
    case TAG.utf8String:
      return decodeUtf8(bytes, bytes.toString('latin1'));
    case TAG.printableString:
    case TAG.ia5String:
    case TAG.numericString:
    case TAG.visibleString:
    case TAG.teletexString:
      return bytes.toString('latin1');
    case TAG.bmpString:
      return decodeWide(bytes, 2);
    case TAG.universalString:
      return decodeWide(bytes, 4);
    default:
      return undefined;
  }
}

function decodeWide(bytes: Buffer, width: 2 | 4): string {
  if (bytes.length % width !== 0) {
    throw new DistinguishedNameError('a value is cut off', bytes.toString('hex'));
  }
  let text = '';
  for (let offset = 0; offset < bytes.length; offset += width) {
    const code = bytes.readUIntBE(offset, width);
    if (code > 0x10ffff) {
      throw new DistinguishedNameError('a value is no Unicode', bytes.toString('hex'));
    }
    text += width === 2 ? String.fromCharCode(code) : String.fromCodePoint(code);
  }
  return text;
}

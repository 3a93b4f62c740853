import { RE2JS } from 're2js';
import { attributeTypeOf } from '../certificate/attribute-types.js';
import {
  canonicalDn,
  decodeUtf8,
  DistinguishedNameError,
} from '../certificate/distinguished-name.js';

/** Whether a canonical DN fits a policy's pattern. */
export type SubjectPattern = (dn: string) => boolean;

const TYPE = /\/([A-Za-z][A-Za-z0-9.-]*)=/g;
const GLOB_START = /^[/*?]/;
const EXPRESSION_START = /^[/.^([*]/;

/**
 * The pattern of a `*.signing_policy`: `*` any characters, `?` one, all others themselves, letter by letter; the whole
 * DN must fit. In slash form or, where it is a whole DN, in any spelling that canonicalDn reads. Throws
 * DistinguishedNameError.
 */
export function globPattern(text: string): SubjectPattern {
  const glob = canonicalTypes(text, GLOB_START);
  const expression = glob
    .split(/([*?])/)
    .map((part) => (part === '*' ? '.*' : part === '?' ? '.' : RE2JS.quote(part)))
    .join('');
  return compiled(expression);
}

/**
 * The pattern of a `*.namespaces`: a regular expression that the whole DN must fit, letter by letter. RE2 syntax, which
 * has what these files use and matches in linear time whatever the pattern. Throws when it is none.
 */
export function expressionPattern(text: string): SubjectPattern {
  return compiled(canonicalTypes(text, EXPRESSION_START));
}

function compiled(expression: string): SubjectPattern {
  const pattern = RE2JS.compile(expression, RE2JS.DOTALL);
  return (dn) => pattern.matches(dn);
}

/** Bytes of UTF-8 beyond ASCII, as OpenSSL writes them (`\xC3\xA9`). */
const BYTES = /(?:\\x[89A-Fa-f][0-9A-Fa-f])+/g;

/** Stands where the bytes of a file are no UTF-8. */
const UNREADABLE = '\ufffd';

/** `/Email=` and `/E=` are `/emailAddress=`, and bytes are characters, as in the DNs that are looked at. */
function canonicalTypes(text: string, slashForm: RegExp): string {
  const trimmed = text.trim();
  if (trimmed.includes(UNREADABLE)) throw new DistinguishedNameError('it is not UTF-8', trimmed);
  if (!slashForm.test(trimmed)) return canonicalDn(trimmed);
  return trimmed
    .replace(TYPE, (whole, type: string) => {
      const known = attributeTypeOf(type);
      return known === undefined ? whole : `/${known}=`;
    })
    .replace(BYTES, (bytes) => decodeUtf8(Buffer.from(bytes.replaceAll('\\x', ''), 'hex'), text));
}

/** Bodies that have stopped other services: all of a size, made once and sent again and again. */

const MIB = 1024 * 1024;

/** The text again and again, up to so many bytes. */
export function repeated(text, bytes) {
  return text.repeat(Math.max(0, Math.floor(bytes / Buffer.byteLength(text))));
}

/** Head, as much of `text` as fits between, tail; `last` stands for the last piece, which has no comma. */
function filled({ head, text, last = text, tail }, bytes) {
  const room = bytes - head.length - tail.length - last.length;
  return `${head}${repeated(text, room)}${last}${tail}`;
}

function numbered(bytes, piece) {
  const pieces = [];
  for (let size = 2, index = 0; size < bytes - 40; index += 1) {
    const text = piece(index);
    pieces.push(text);
    size += text.length + 1;
  }
  return pieces;
}

function nested(open, inner, close, bytes) {
  const depth = Math.floor((bytes - inner.length) / (open.length + close.length));
  return `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
}

/** JSON of so many bytes that is dear to read, to check or to refuse: name → text. */
const JSON_TEXTS = {
  'lists that never close': (bytes) => repeated('[', bytes),
  'objects that never close': (bytes) => repeated('{"a":', bytes),
  'deep lists': (bytes) => nested('[', '', ']', bytes),
  'a member of deep lists': (bytes) => `{"a":${nested('[', '', ']', bytes - 6)}}`,
  'deep objects': (bytes) => nested('{"a":', '1', '}', bytes),
  'empty lists': (bytes) => filled({ head: '{"a":[', text: '[],', last: '[]', tail: ']}' }, bytes),
  'empty objects': (bytes) =>
    filled({ head: '{"a":[', text: '{},', last: '{}', tail: ']}' }, bytes),
  'lists of lists, 60 deep': (bytes) =>
    filled(
      {
        head: '{"a":[',
        text: `${'['.repeat(60)}${']'.repeat(60)},`,
        last: '[]',
        tail: ']}',
      },
      bytes,
    ),
  'small objects': (bytes) =>
    filled({ head: '{"a":[', text: '{"a":0},', last: '{}', tail: ']}' }, bytes),
  'empty texts': (bytes) => filled({ head: '{"a":[', text: '"",', last: '""', tail: ']}' }, bytes),
  digits: (bytes) => filled({ head: '{"a":[', text: '1,', last: '1', tail: ']}' }, bytes),
  fractions: (bytes) =>
    filled({ head: '{"a":[', text: '.1e-9,'.replace('.', '0.'), last: '1', tail: ']}' }, bytes),
  'numbers of 17 digits': (bytes) =>
    filled({ head: '{"a":[', text: '98765432109876543,', last: '1', tail: ']}' }, bytes),
  'numbers of a thousand digits': (bytes) =>
    filled({ head: '{"a":[', text: `${'9'.repeat(1_000)},`, last: '1', tail: ']}' }, bytes),
  'one number': (bytes) => `{"a":${'9'.repeat(bytes - 6)}}`,
  'many members': (bytes) =>
    `{${numbered(bytes, (index) => `"${index.toString(36)}":0`).join(',')}}`,
  'members that are numbers': (bytes) =>
    `{${numbered(bytes, (index) => `"${index * 7919}":0`).join(',')}}`,
  'one member again and again': (bytes) =>
    filled({ head: '{', text: '"a":0,', last: '"a":0', tail: '}' }, bytes),
  '__proto__ again and again': (bytes) =>
    filled({ head: '{', text: '"__proto__":{},', last: '"a":0', tail: '}' }, bytes),
  'many members in every object': (bytes) =>
    filled(
      {
        head: '{"a":[',
        text: `{${Array.from({ length: 30 }, (_, index) => `"k${index}":[]`).join(',')}},`,
        last: '{}',
        tail: ']}',
      },
      bytes,
    ),
  'one text of escapes': (bytes) =>
    filled({ head: '{"a":"', text: '\\u00e9', last: '', tail: '"}' }, bytes),
  'texts of escapes': (bytes) =>
    filled({ head: '{"a":[', text: '"\\ud83d\\ude00",', last: '""', tail: ']}' }, bytes),
  'half a surrogate pair at the end': (bytes) =>
    filled({ head: '{"a":["\\ud800",', text: '[],', last: '"\\ud800"', tail: ']}' }, bytes),
  backslashes: (bytes) => filled({ head: '{"a":"', text: '\\\\', last: '', tail: '"}' }, bytes),
  'a text that never ends': (bytes) => `{"a":"${repeated('\\"', bytes - 6)}`,
  blanks: (bytes) => `${repeated(' ', bytes - 2)}{}`,
  'what is no JSON at its end': (bytes) =>
    filled({ head: '{"a":[', text: '[],', last: '[]', tail: ']!' }, bytes),
};

export const JSON_NAMES = Object.keys(JSON_TEXTS);

/** The JSON text of that name, so many bytes long. */
export function jsonText(name, bytes) {
  return JSON_TEXTS[name](bytes);
}

const FORM_TEXTS = {
  'one key again and again': (bytes) => repeated('a=1&', bytes),
  'manifests of nothing': (bytes) => repeated('manifest=%7B%7D&', bytes),
  'many keys': (bytes) => numbered(bytes, (index) => `${index.toString(36)}=`).join('&'),
  'nothing but separators': (bytes) => repeated('&', bytes),
  'percent signs': (bytes) => `a=${repeated('%41', bytes - 2)}`,
  'broken percent signs': (bytes) => `a=${repeated('%f', bytes - 2)}`,
  'plus signs': (bytes) => `a=${repeated('+', bytes - 2)}`,
  'one long value': (bytes) => `grant_type=${repeated('x', bytes - 11)}`,
};

export const FORM_NAMES = Object.keys(FORM_TEXTS);

/** The form of that name, so many bytes long. */
export function formText(name, bytes) {
  return FORM_TEXTS[name](bytes);
}

export const BOUNDARY = 'flood';

function part(disposition, content) {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
}

const MULTIPARTS = {
  'manifests of nothing': (bytes) => repeated(part('name="manifest"', '{}'), bytes),
  'empty files': (bytes) => repeated(part('name="file"; filename="f"', ''), bytes),
  'files of other names': (bytes) =>
    numbered(bytes, (index) => part(`name="f"; filename="f${index}"`, 'x')).join(''),
  'a huge name': (bytes) => part(`name="${repeated('n', bytes)}"; filename="f"`, 'x'),
  'huge names': (bytes) =>
    repeated(part(`name="f"; filename="${repeated('n', 60_000)}"`, 'x'), bytes),
  'many lines in the head of a part': (bytes) =>
    `--${BOUNDARY}\r\n${repeated('X-A: b\r\n', bytes)}\r\n\r\n`,
  'boundaries only': (bytes) => repeated(`--${BOUNDARY}\r\n`, bytes),
  'half boundaries': (bytes) =>
    `${part('name="file"; filename="f"', repeated(`\r\n--${BOUNDARY.slice(0, -1)}`, bytes))}`,
  'one large manifest': (bytes) => part('name="manifest"', `{"a":"${repeated('x', bytes)}"}`),
  'a manifest of empty lists': (bytes) => part('name="manifest"', jsonText('empty lists', bytes)),
};

export const MULTIPART_NAMES = Object.keys(MULTIPARTS);

/** The multipart body of that name, about so many bytes long. */
export function multipartText(name, bytes) {
  return `${MULTIPARTS[name](bytes)}--${BOUNDARY}--\r\n`;
}

/** Bodies that may be larger than others: `at` begins them, `piece` is sent again and again, `end` ends them. */
export const STREAMS = {
  'empty lines': { piece: '\n' },
  'lines of nothing': { piece: '{}\n' },
  'lines of lists': { piece: '[]\n' },
  'half lines': { piece: '{"Executable":\n' },
  'one line without end': { piece: '{"Executable":"/bin/true",' },
  'lines of manifests': { piece: '{"Executable":"/bin/true"}\n' },
  'lines of files': { piece: '{"kind":"file","path":"/vo/none/f","size":1}\n' },
  'lines of deletions': { piece: '{"kind":"file","op":"delete","path":"/vo/none/f"}\n' },
  'a list of nothing': { at: '{"manifests":[', piece: '{},', end: '{}]}' },
  'a list of lists': { at: '{"manifests":[', piece: '[],', end: '[]]}' },
  'a list of texts': { at: '{"manifests":[', piece: '"]},{",', end: '""]}' },
  'a list of commas': { at: '{"manifests":[', piece: ',', end: ']}' },
  'a list that does not close': { at: '{"manifests":[', piece: '[[[[' },
  'a list of manifests': {
    at: '{"manifests":[',
    piece: '{"Executable":"/bin/true"},',
    end: '{"Executable":"/bin/true"}]}',
  },
  'blanks before a list': { piece: ' ', end: '{"manifests":[]}' },
  'what comes behind the list': { at: '{"manifests":[{}],"a":', piece: '[' },
};

/** The pieces of such a body of so many bytes. */
export function* streamed({ at = '', piece, end = '' }, bytes) {
  if (at !== '') yield Buffer.from(at);
  const block = Buffer.from(repeated(piece, 64 * 1024));
  for (let sent = 0; sent < bytes - block.length; sent += block.length) yield block;
  if (end !== '') yield Buffer.from(end);
}

/** Bytes of such a body, for its Content-Length. */
export function lengthOf({ at = '', piece, end = '' }, bytes) {
  const block = Buffer.byteLength(repeated(piece, 64 * 1024));
  const blocks = Math.max(0, Math.ceil((bytes - block) / block));
  return at.length + blocks * block + end.length;
}

/** Manifests that make many, or long ones. */
export const PARAMETRIC = {
  'ten thousand values': () =>
    JSON.stringify({ Executable: '/bin/true', Arguments: '%s', Parameters: 10_000 }),
  'a template of a thousand places': () =>
    JSON.stringify({
      Executable: '/bin/true',
      Arguments: '%s'.repeat(1_000),
      Parameters: Array.from({ length: 300 }, () => 'v'.repeat(100)),
    }),
  'one long value in every place': () =>
    JSON.stringify({
      Executable: '/bin/true',
      Arguments: '%s'.repeat(8_000),
      Parameters: ['v'.repeat(30_000)],
    }),
};

export { MIB };

/** The hostile requests of the flood: every kind for every operation that it fits. */
import {
  BOUNDARY,
  FORM_NAMES,
  formText,
  JSON_NAMES,
  jsonText,
  lengthOf,
  MIB,
  MULTIPART_NAMES,
  multipartText,
  PARAMETRIC,
  repeated,
  streamed,
  STREAMS,
} from './bodies.mjs';
import {
  headOf,
  LINE_NAMES,
  lineTexts,
  pathOf,
  PLACE_NAMES,
  placeText,
  QUERY_NAMES,
  queryText,
} from './heads.mjs';

const JSON_TYPE = 'application/json';
const LINES_TYPE = 'application/x-ndjson';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const MULTIPART_TYPE = 'multipart/form-data';
/** A form of /oauth2 may be smaller than other bodies; one byte more is refused before it is read. */
const FORM_BYTES = 64 * 1024;
const SLOW_MS = 4_000;

const kept = new Map();

/** Made once in this process. */
function once(key, make) {
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key);
}

const takes = (type) => (operation) => operation.types.includes(type);
const hasBody = (operation) => operation.types.length > 0;
const always = () => true;
const isRead = ({ method }) => method === 'GET';

function sized(operation, { target, lines }, type, body) {
  const all = [...lines, `Content-Type: ${type}`, `Content-Length: ${body.length}`];
  return { head: headOf(operation.method, target, all), body: [body] };
}

/** A request with a whole body; `bytes` makes it once. */
function whole(name, fits, type, bytes) {
  const make = (operation, world) => {
    const body = once(`${name}`, () => Buffer.from(bytes()));
    return sized(operation, world.plain(operation), type, body);
  };
  return { name, fits, make };
}

const jsonKinds = JSON_NAMES.flatMap((name) => [
  {
    ...whole(`JSON: ${name}`, takes(JSON_TYPE), JSON_TYPE, () => jsonText(name, MIB)),
    isJson: true,
  },
  whole(`one line: ${name}`, takes(LINES_TYPE), LINES_TYPE, () => jsonText(name, MIB)),
  whole(`a manifest of 64 KiB: ${name}`, takes(FORM_TYPE), FORM_TYPE, () =>
    `manifest=${encodeURIComponent(jsonText(name, FORM_BYTES / 3))}`.slice(0, FORM_BYTES),
  ),
]);

const formKinds = FORM_NAMES.flatMap((name) => [
  whole(`form: ${name}`, takes(FORM_TYPE), FORM_TYPE, () => formText(name, FORM_BYTES)),
  whole(`form of a MiB: ${name}`, takes(FORM_TYPE), FORM_TYPE, () => formText(name, MIB)),
]);

const multipartKinds = MULTIPART_NAMES.map((name) =>
  whole(
    `multipart: ${name}`,
    takes(MULTIPART_TYPE),
    `${MULTIPART_TYPE}; boundary=${BOUNDARY}`,
    () => multipartText(name, 8 * MIB),
  ),
);

const parametricKinds = Object.entries(PARAMETRIC).map(([name, make]) =>
  whole(`parametric: ${name}`, ({ path }) => path === '/jobs', JSON_TYPE, make),
);

const isMany = ({ types }) => types.includes(LINES_TYPE);

const streamKinds = Object.entries(STREAMS).map(([name, stream]) => ({
  name: `many: ${name}`,
  fits: isMany,
  isLarge: true,
  make: (operation, world) => {
    const { target, lines } = world.plain(operation);
    const type =
      stream.at === undefined && name !== 'blanks before a list' ? LINES_TYPE : JSON_TYPE;
    const bytes = world.largeBytes;
    const length = lengthOf(stream, bytes);
    const all = [...lines, `Content-Type: ${type}`, `Content-Length: ${length}`];
    return { head: headOf(operation.method, target, all), body: streamed(stream, bytes) };
  },
}));

const spoiledKinds = [
  whole('a body in a coding', hasBody, `${JSON_TYPE}\r\nContent-Encoding: gzip`, () =>
    repeated('\x1f', MIB),
  ),
  whole('a body in another alphabet', hasBody, `${JSON_TYPE}; charset=utf-16`, () =>
    Buffer.from(jsonText('empty lists', MIB / 2), 'utf16le'),
  ),
  whole('a body that is no UTF-8', hasBody, JSON_TYPE, () => Buffer.alloc(MIB, 0xff)),
  whole('a body of zeros', hasBody, JSON_TYPE, () => Buffer.alloc(MIB)),
  whole('a body of no known type', always, 'x/y', () => repeated('x', MIB)),
  whole('a body of 8 MiB', always, JSON_TYPE, () => repeated('[', 8 * MIB)),
];

function chunkedBody(text, size) {
  const chunk = `${size.toString(16)}\r\n`;
  const pieces = [];
  for (let at = 0; at < text.length; at += size) {
    pieces.push(chunk, text.slice(at, at + size), '\r\n');
  }
  return Buffer.from(`${pieces.join('')}0\r\n\r\n`);
}

const typeOf = ({ types }) =>
  types[0] === MULTIPART_TYPE ? `${MULTIPART_TYPE}; boundary=${BOUNDARY}` : (types[0] ?? JSON_TYPE);

function chunkedKind(name, size, extension = '') {
  const make = (operation, world) => {
    const { target, lines } = world.plain(operation);
    const bytes = once(name, () => {
      const body = chunkedBody(jsonText('empty lists', size * 60_000), size);
      return extension === ''
        ? body
        : Buffer.from(body.toString().replace(/^1\r\n/gm, `1${extension}\r\n`));
    });
    const all = [...lines, `Content-Type: ${typeOf(operation)}`, 'Transfer-Encoding: chunked'];
    return { head: headOf(operation.method, target, all), body: [bytes] };
  };
  return { name, fits: hasBody, make };
}

const headKinds = [
  ...QUERY_NAMES.map((name) => ({
    name: `query: ${name}`,
    fits: always,
    make: (operation, world) => {
      const { target, lines } = world.plain(operation);
      const query = once(`${name} ${operation.name}`, () => queryText(name, operation));
      return { head: headOf(operation.method, `${target}?${query}`.slice(0, 30_500), lines) };
    },
  })),
  ...PLACE_NAMES.map((name) => ({
    name: `path: ${name}`,
    fits: always,
    make: (operation, world) => {
      const { lines } = world.plain(operation);
      const value = once(name, () => placeText(name));
      const has = operation.path.includes('{');
      const places = operation.path.split('{').length - 1;
      const cut = value.slice(0, Math.floor(value.length / Math.max(1, places)));
      const path = has ? pathOf(operation, {}, cut) : `${operation.path}/${value}`;
      return { head: headOf(operation.method, path, lines) };
    },
  })),
  ...LINE_NAMES.map((name) => ({
    name: `head: ${name}`,
    fits: always,
    make: (operation, world) => {
      const further = once(name, () => lineTexts(name));
      const isToken = further.some((line) => line.startsWith('Authorization'));
      const isLong = further.join().length > 20_000;
      const { target, lines } = isToken ? world.bare(operation) : world.plain(operation);
      const all = [...lines, ...further];
      return {
        head: headOf(operation.method, target, isLong ? fitting(all) : all),
        // A few of them announce a body that never comes, or a protocol that is not spoken.
        forMs: 3_000,
      };
    },
  })),
  {
    name: 'a head that is too large',
    fits: always,
    make: (operation, world) => ({
      head: headOf(operation.method, world.plain(operation).target, [
        `X-Long: ${repeated('a', 60_000)}`,
      ]),
    }),
  },
];

/** As many of the lines as the server takes. */
function fitting(lines) {
  let room = 31_500;
  return lines.filter((line) => (room -= line.length + 2) > 0);
}

const wireKinds = [
  {
    name: 'pipelined, never read',
    isSlow: true,
    fits: isRead,
    make: (operation, world) => {
      const { target, lines } = world.plain(operation);
      const head = headOf('GET', target, lines).repeat(100);
      return { head, answers: 100, isReadSlowly: true, forMs: SLOW_MS };
    },
  },
  {
    name: 'read slowly',
    isSlow: true,
    fits: isRead,
    make: (operation, world) => {
      const { target, lines } = world.plain(operation);
      return { head: headOf('GET', target, lines), isReadSlowly: true, forMs: SLOW_MS };
    },
  },
  {
    name: 'one byte at a time',
    isSlow: true,
    fits: always,
    make: (operation, world) => {
      const { target, lines } = world.plain(operation);
      const all = [...lines, `Content-Type: ${typeOf(operation)}`, 'Content-Length: 5000'];
      const body = [Buffer.from(repeated('[', 5_000))];
      const pace = { bytes: 1, everyMs: 4 };
      return { head: headOf(operation.method, target, all), body, pace, forMs: SLOW_MS };
    },
  },
  {
    name: 'a body that stays away',
    isSlow: true,
    fits: always,
    make: (operation, world) => {
      const { target, lines } = world.plain(operation);
      const all = [...lines, `Content-Type: ${typeOf(operation)}`, 'Content-Length: 5000'];
      return { head: headOf(operation.method, target, all), forMs: SLOW_MS };
    },
  },
  {
    name: 'half a head',
    isSlow: true,
    fits: always,
    make: (operation, world) => ({
      head: headOf(operation.method, world.plain(operation).target).slice(0, -3),
      forMs: SLOW_MS,
    }),
  },
  {
    name: 'gone in the middle of the body',
    fits: hasBody,
    make: (operation, world) => {
      const body = once('aborted', () => Buffer.from(jsonText('empty lists', MIB)));
      const request = sized(operation, world.plain(operation), typeOf(operation), body);
      return { ...request, body: pieces(body), cutAfter: MIB / 2 };
    },
  },
  {
    name: 'gone at once',
    fits: always,
    make: (operation, world) => {
      const { target, lines } = world.plain(operation);
      return { head: headOf(operation.method, target, lines), cutAfter: 1 };
    },
  },
  ...['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'].map((method) => ({
    name: `method ${method}`,
    fits: always,
    make: (operation, world) => {
      const { target, lines } = world.plain(operation);
      return { head: headOf(method, target, lines), isHead: method === 'HEAD' };
    },
  })),
  {
    name: 'as it is meant',
    fits: always,
    make: (operation, world) => {
      const { target, lines } = world.plain(operation);
      return { head: headOf(operation.method, target, lines) };
    },
  },
];

function* pieces(body) {
  for (let at = 0; at < body.length; at += 16_384) yield body.subarray(at, at + 16_384);
}

/** `{name, fits(operation), make(operation, world)}`; `isLarge` ones send what bodies of many may have, `isSlow` ones take seconds. */
export const KINDS = [
  ...jsonKinds,
  ...formKinds,
  ...multipartKinds,
  ...parametricKinds,
  ...streamKinds,
  ...spoiledKinds,
  chunkedKind('chunks of a byte', 1),
  chunkedKind('chunks of a byte with extensions', 1, ';a=b'),
  chunkedKind('chunks of 17 bytes', 17),
  ...headKinds,
  ...wireKinds,
];

/** Heads of requests: to every operation of docs/openapi.json, with whatever fits into 32 KiB. */
import { readFileSync } from 'node:fs';
import { repeated } from './bodies.mjs';

/** Below the limit of the server by what every request has beside. */
const ROOM = 30_000;

const encoded = (path) => Buffer.from(path).toString('base64url');
const base64url = (value) => encoded(JSON.stringify(value));

/** Operations of the document as `{name, method, path, parameters, types, statuses, headStatuses, ways}`. */
export function operations(file = 'docs/openapi.json') {
  const { paths } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
      types: Object.keys(operation.requestBody?.content ?? {}),
      statuses: Object.keys(operation.responses).map(Number),
      // HEAD is answered like GET, where there is one.
      headStatuses: Object.keys((item.get ?? operation).responses).map(Number),
      ways: (operation.security ?? []).flatMap((way) => Object.keys(way)),
    })),
  );
}

/** The path of the operation with what the world knows in its places, or with `value` in each. */
export function pathOf({ path }, known, value) {
  return path.replace(/\{(\w+)\}/g, (_, name) => value ?? known[name] ?? 'x');
}

/** The head as text; `lines` are further `name: value`. */
export function headOf(method, target, lines = []) {
  return `${[`${method} ${target} HTTP/1.1`, 'Host: localhost', ...lines].join('\r\n')}\r\n\r\n`;
}

function queryOf(operation) {
  return operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
}

/** Queries of 30 kB: name → operation → text. */
const QUERIES = {
  'a=1 again and again': () => repeated('a=1&', ROOM),
  'every parameter again and again': (operation) =>
    repeated(`${['x', ...queryOf(operation)].join('=1&')}=1&`, ROOM),
  'many keys': () =>
    Array.from({ length: 4_500 }, (_, index) => `${index.toString(36)}=`).join('&'),
  'one long value of a parameter': (operation) =>
    `${queryOf(operation)[0] ?? 'x'}=${repeated('a', ROOM)}`,
  'long values of every parameter': (operation) => {
    const names = ['x', ...queryOf(operation)];
    return names.map((name) => `${name}=${repeated('-1', ROOM / names.length - 40)}`).join('&');
  },
  'many values of every parameter': (operation) => {
    const names = ['x', ...queryOf(operation)];
    const room = ROOM / names.length - 40;
    return names.map((name) => repeated(`${name}=1&`, room)).join('');
  },
  conditions: () => repeated('energy=%3E%7C50&', ROOM),
  'conditions of other fields': () =>
    Array.from({ length: 1_200 }, (_, index) => `f${index}=%3E%7C${index}`).join('&'),
  'a condition with many values': () => `energy=in%7C${repeated('1%2C', ROOM)}`,
  'percent signs': () => `x=${repeated('%41', ROOM)}`,
  'broken percent signs': () => `x=${repeated('%', ROOM)}`,
  brackets: () => `a${repeated('[a]', ROOM)}=1`,
  'a token that is none': () => `access_token=${repeated('eyJ', ROOM)}`,
};

/** What stands in every place of a path. */
const PLACES = {
  'a long place': () => repeated('a', ROOM),
  'a place of percent signs': () => repeated('%41', ROOM),
  'a place of broken percent signs': () => repeated('%ff', ROOM),
  'a place of eyJ': () => repeated('eyJ', ROOM),
  'the code of a deep path': () => encoded(repeated('/a', ROOM * 0.7)),
  'the code of slashes': () => encoded(repeated('/', ROOM * 0.7)),
  'the code of dots': () => encoded(repeated('/..', ROOM * 0.7)),
  digits: () => repeated('9', ROOM),
};

/** Lines of the head that together fill it. */
const LINES = {
  'many small lines': () => Array.from({ length: 1_900 }, (_, index) => `x${index}: a`),
  'the same small line': () => Array.from({ length: 5_000 }, () => 'a: b'),
  'one long line': () => [`X-Long: ${repeated('a', ROOM)}`],
  cookies: () => [`Cookie: ${repeated('a=b; ', ROOM)}`],
  'the same cookie with another value': () => [
    `Cookie: ${repeated('__Host-grid_visit=eyJhbGciOi; ', ROOM)}`,
  ],
  'languages and encodings': () => [
    `Accept-Encoding: ${repeated('gzip;q=0.001,', ROOM / 2)}`,
    `Accept-Language: ${repeated('a;q=0.1,', ROOM / 3)}`,
  ],
  'accepted types': () => [`Accept: ${repeated('a/b;q=0.1,', ROOM)}`],
  ranges: () => [`Range: bytes=${repeated('0-0,', ROOM)}`],
  'entity tags': () => [`If-None-Match: ${repeated('"a",', ROOM)}`],
  'addresses of proxies': () => [`X-Forwarded-For: ${repeated('10.0.0.1, ', ROOM)}`],
  'forwarded elements': () => [`Forwarded: ${repeated('for=1.2.3.4;by=x,', ROOM)}`],
  'a type with many parameters': () => [`Content-Type: application/json${repeated(';a=b', ROOM)}`],
  'a trace without end': () => [`traceparent: ${repeated('00-', ROOM)}`],
  'a key without end': () => [`Idempotency-Key: ${repeated('k', ROOM)}`],
  'a request id': () => [`X-Request-Id: ${repeated('k', ROOM)}`],
  'the origin of another': () => [`Origin: https://${repeated('a.', ROOM)}b`],
  'certificate junk': () => [`Client-Cert: :${repeated('TUlJ', ROOM)}:`],
  'a chain of certificate junk': () => [
    `Client-Cert: :${encoded('x')}:`,
    `Client-Cert-Chain: ${repeated(':MIIB:,', ROOM)}`,
  ],
  'deep DER': () => [
    `Client-Cert: :${Buffer.from(repeated('\x30\x80', 20_000), 'latin1').toString('base64')}:`,
  ],
  'an expectation': () => ['Expect: 100-continue'],
  'an upgrade': () => ['Connection: upgrade, http2-settings', 'Upgrade: h2c', 'HTTP2-Settings: AA'],
  'basic credentials': () => [`Authorization: Basic ${repeated('YTpi', ROOM)}`],
  'a scheme without end': () => [`Authorization: ${repeated('Bearer ', ROOM)}`],
  'dots as a token': () => [`Authorization: Bearer ${repeated('.', ROOM)}`],
  'eyJ as a token': () => [`Authorization: Bearer ${repeated('eyJ.', ROOM)}`],
  'a forged token': () => [`Authorization: Bearer ${forged({})}`],
  'a forged token of a large head': () => [
    `Authorization: Bearer ${forged({ kid: repeated('k', 15_000) })}`,
  ],
  'a forged token of deep claims': () => [
    `Authorization: Bearer ${forged({}, `${repeated('[', 8_000)}${repeated(']', 8_000)}`)}`,
  ],
  'a forged token of many claims': () => [
    `Authorization: Bearer ${forged({}, repeated('[],', 18_000))}`,
  ],
};

function forged(head, claims) {
  const first = base64url({ alg: 'ES256', typ: 'at+jwt', kid: 'none', ...head });
  const rest = claims === undefined ? undefined : encoded(`{"iss":"x","a":[${claims}1]}`);
  const body = rest ?? base64url({ iss: 'https://x', sub: 'alice', pad: repeated('p', 12_000) });
  return `${first}.${body}.${repeated('A', 86)}`;
}

export const QUERY_NAMES = Object.keys(QUERIES);
export const PLACE_NAMES = Object.keys(PLACES);
export const LINE_NAMES = Object.keys(LINES);

export const queryText = (name, operation) => QUERIES[name](operation);
export const placeText = (name) => PLACES[name]();
export const lineTexts = (name) => LINES[name]();

import { routes } from './http-catalogue.js';
import type { Answer, CallOptions } from '../testbed.js';

/** One way to ask for a place: what it is, the method, the path and the body. */
type Ask = [what: string, method: string, path: (place: string) => string, options?: CallOptions];

const in_ = (rest: string) => (place: string) => `${routes.directory(place)}${rest}`;
const at = (rest: string) => (place: string) => `${routes.file(`${place}/plan`)}${rest}`;
const itself = (rest: string) => (place: string) => `${routes.file(place)}${rest}`;
const inside = (place: string) => routes.directory(`${place}/new/deep`);

/** Every way to ask for a directory, and for the file `plan` in it. */
export const ASKS: Ask[] = [
  ['a listing', 'GET', in_('')],
  ['a listing of everything', 'GET', in_('?verbose=true&limit=3')],
  ['a search', 'GET', in_('/search?project=in%7Cgrid')],
  ['a search line by line', 'GET', in_('/search'), { headers: { accept: 'application/x-ndjson' } }],
  ['a search with a wrong condition', 'GET', in_('/search?project=%3E%7C3')],
  ['values', 'GET', in_('/metadata?counts=true')],
  ['some values', 'GET', in_('/metadata?maxValues=2&project=in%7Cgrid')],
  ['attributes of a file', 'GET', at('/attributes')],
  ['attributes of a directory as a file', 'GET', itself('/attributes')],
  ['metadata of a file', 'GET', at('/metadata')],
  ['all metadata of a file', 'GET', at('/metadata?inherited=true')],
  ['making a directory', 'POST', in_('')],
  ['making a directory with a mode', 'POST', in_(''), { json: { Mode: 511 } }],
  ['making a directory inside', 'POST', inside],
  ['making a directory in a file', 'POST', (place) => routes.directory(`${place}/plan/x`)],
  ['removing a directory', 'DELETE', in_('')],
  ['changing values', 'PATCH', in_('/metadata'), { json: { project: 'mine' } }],
  ['changing values to wrong ones', 'PATCH', in_('/metadata'), { json: { nothing: 1 } }],
  ['replacing values', 'PUT', in_('/metadata'), { json: {} }],
  ['registering a file', 'PUT', at(''), { json: { Size: 10 } }],
  ['registering a file again, with another size', 'PUT', at(''), { json: { Size: 11 } }],
  ['registering a file in the place of a directory', 'PUT', itself(''), { json: { Size: 1 } }],
  [
    'registering a file inside',
    'PUT',
    (place) => routes.file(`${place}/new/f`),
    { json: { Size: 1 } },
  ],
  ['removing a file', 'DELETE', at('')],
  ['removing a directory as a file', 'DELETE', itself('')],
  ['changing metadata of a file', 'PATCH', at('/metadata'), { json: { note: 'x' } }],
  ['replacing metadata of a file', 'PUT', at('/metadata'), { json: {} }],
];

/** Every line of a bulk about a directory and the file `plan` in it. */
export const LINES: ((place: string) => object)[] = [
  (path) => ({ kind: 'directory', path }),
  (path) => ({ kind: 'directory', path, mode: 511, metadata: { project: 'mine' } }),
  (path) => ({ kind: 'directory', path, op: 'delete' }),
  (path) => ({ kind: 'file', path: `${path}/plan`, size: 10 }),
  (path) => ({ kind: 'file', path: `${path}/plan`, metadata: { note: 'x' } }),
  (path) => ({ kind: 'file', path: `${path}/plan`, op: 'delete' }),
  (path) => ({ kind: 'file', path, size: 10 }),
];

/** Everything of an answer that its reader can tell apart, with the place's name taken out of it. */
export function told({ status, headers, bytes }: Answer, place: string): unknown {
  const body = bytes.toString('utf8').replace(/"instance":"[^"]*"/, '');
  const top = place.split('/').slice(0, 3).join('/');
  const text = body.replaceAll(place, 'PLACE').replaceAll(top, 'TOP');
  const { 'content-type': type, allow, link } = headers;
  return { status, type, allow, link, text };
}

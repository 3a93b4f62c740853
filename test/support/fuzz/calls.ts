import * as fc from 'fast-check';
import type { ApiDocument, Operation, Parameter } from './document.js';
import { anything, text, Values } from './values.js';

/** One generated call. */
export interface FuzzCall {
  identity: string;
  method: string;
  target: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** A call that succeeds, by the name of its operation; generated calls vary it. Members of a JSON body are JSON texts. */
export type Recipes = Record<string, { identity: string; members: Record<string, string> }>;

/** Values that lead somewhere, by the name of the parameter or member. */
export type KnownValues = Record<string, string[]>;

const BOUNDARY = 'fuzz-boundary';
const UNUSUAL_HEADERS: [string, string[]][] = [
  ['accept', ['application/json', 'application/x-ndjson', 'text/html', 'image/png', '', '*/*;q=0']],
  ['accept-encoding', ['gzip', 'br;q=1.0, identity;q=0']],
  ['if-none-match', ['*', '"x"', 'W/"x"', '"']],
  ['range', ['bytes=0-1', 'bytes=-1', 'bytes=9-', 'bytes=5-1', 'bytes=0-0,2-3', 'lines=1-2', 'x']],
  ['idempotency-key', ['k', 'k2', 'a'.repeat(300), '"quoted"']],
  ['content-encoding', ['gzip', 'identity']],
  ['x-grid-group', ['grid_share', 'none']],
  ['authorization', ['Bearer', 'Bearer a b', 'Basic eDp5', 'Basic !', 'Digest x', 'x Bearer']],
  ['cookie', ['a=b', '=;;', '__Host-session=x']],
  ['origin', ['https://elsewhere.example', 'null']],
  ['x-http-method-override', ['DELETE']],
];

/** Generates calls of operations: most of them sensible in all parts but one or two. */
export class Calls {
  private readonly values: Values;

  constructor(
    document: ApiDocument,
    private readonly known: KnownValues,
    private readonly identities: Record<
      'bearer' | 'administration' | 'certificate' | 'open',
      string[]
    >,
    private readonly recipes: Recipes,
  ) {
    this.values = new Values(document);
  }

  of(operation: Operation): fc.Arbitrary<FuzzCall> {
    const recipe = this.recipes[operation.name];
    const random = this.random(operation);
    return recipe ? fc.oneof(random, this.varied(operation, recipe)) : random;
  }

  /** The recipe with at most one member changed or left out. */
  private varied(
    { method, path, bodies }: Operation,
    { identity, members }: Recipes[string],
  ): fc.Arbitrary<FuzzCall> {
    const names = Object.keys(members);
    const spoiled = fc.record({ name: fc.constantFrom(...names), value: fc.option(text()) });
    return fc.option(spoiled).map((change): FuzzCall => {
      const pairs = names.flatMap((name): [string, string][] => {
        const value = change?.name === name ? change.value : members[name];
        return value === null || value === undefined ? [] : [[name, value]];
      });
      const parameters = pairs.map(([name, value]) => `${name}=${encoded(value)}`).join('&');
      const json = pairs.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',');
      const [type] = Object.keys(bodies);
      if (type === undefined) {
        return { identity, method, target: `${path}?${parameters}`, headers: {}, body: undefined };
      }
      return {
        identity,
        method,
        target: path,
        headers: { 'content-type': type },
        body: type === 'application/json' ? `{${json}}` : parameters,
      };
    });
  }

  private random(operation: Operation): fc.Arbitrary<FuzzCall> {
    const { method } = operation;
    return fc
      .record({
        identity: this.identity(operation),
        isHead: fc.integer({ min: 0, max: 15 }).map((n) => n === 0 && method === 'GET'),
        path: this.path(operation),
        query: this.query(operation),
        headers: this.headers(operation),
        payload: this.payload(operation),
      })
      .map(({ identity, isHead, path, query, headers, payload }) => ({
        identity,
        method: isHead ? 'HEAD' : method,
        target: query === '' ? path : `${path}?${query}`,
        headers: {
          ...(payload.type !== undefined && { 'content-type': payload.type }),
          ...headers,
        },
        body: payload.body,
      }));
  }

  private identity({ ways, path }: Operation): fc.Arbitrary<string> {
    const { bearer, administration, certificate, open } = this.identities;
    if (path.startsWith('/admin/')) return fc.constantFrom(...administration);
    if (ways.includes('bearer')) return fc.constantFrom(...bearer);
    return fc.constantFrom(...(ways.includes('certificate') ? certificate : open));
  }

  private path({ path, parameters }: Operation): fc.Arbitrary<string> {
    const places = parameters.filter((one) => one.in === 'path');
    const parts = places.map((place) => this.pathPart(place).map((part) => [place.name, part]));
    return fc.tuple(...parts).map((pairs) => {
      let target = path;
      for (const [name, part] of pairs) target = target.replace(`{${name}}`, () => part ?? '');
      return target;
    });
  }

  private pathPart(place: Parameter): fc.Arbitrary<string> {
    const known = fc.constantFrom(...(this.known[place.name] ?? ['x']));
    const random = fc.oneof(
      this.value(place),
      text().map((one) => Buffer.from(one).toString('base64url')),
      text(),
    );
    const other = random.filter((part) => part !== '' && part !== '.' && part !== '..');
    return fc.oneof(
      { weight: 3, arbitrary: known.map(encodeURIComponent) },
      { weight: 1, arbitrary: other.map((part) => encoded(part)) },
      { weight: 1, arbitrary: fc.constantFrom('%ff', '%00', '%2e%2e%2f', '%252e', 'L3Zv==', '=') },
    );
  }

  private query({ parameters }: Operation): fc.Arbitrary<string> {
    const named = parameters.filter((one) => one.in === 'query');
    const pairs = named.map((parameter) => this.pair(parameter, 4 * named.length));
    const usual = Array.from({ length: 30 }, () => '');
    const strange = fc.constantFrom(
      ...usual,
      'unknown=1',
      '=',
      '&&',
      'a[b]=1',
      '%zz=%',
      '%00=1',
      'access_token=x',
    );
    return fc
      .tuple(strange, ...pairs)
      .map((parts) => parts.filter((part) => part !== '').join('&'));
  }

  private pair(parameter: Parameter, absence: number): fc.Arbitrary<string> {
    const weight = parameter.required ? 20 : 2;
    const one = this.queryValue(parameter);
    const twice = fc.tuple(one, one).map((two) => two.join('&'));
    return fc.oneof(
      { weight: parameter.required ? 1 : absence, arbitrary: fc.constant('') },
      { weight, arbitrary: one },
      { weight: 1, arbitrary: twice },
    );
  }

  private queryValue(parameter: Parameter): fc.Arbitrary<string> {
    const { name, schema } = parameter;
    if (schema?.['type'] === 'object') return this.condition();
    return fc
      .oneof(
        { weight: 4, arbitrary: fc.constantFrom(...(this.known[name] ?? ['1'])) },
        { weight: 3, arbitrary: this.value(parameter) },
        { weight: 2, arbitrary: text() },
      )
      .map((value) => `${encodeURIComponent(name)}=${encoded(value)}`);
  }

  private condition(): fc.Arbitrary<string> {
    const operators = fc.constantFrom('<', '>', '=', '<=', '>=', '!=', 'in', 'nin', '~', '');
    const operand = fc.oneof(
      text(),
      fc.integer().map(String),
      fc.constantFrom('1', '2020-01-01', 'e,mu'),
    );
    const field = fc.oneof(fc.constantFrom(...(this.known['field'] ?? ['x'])), text());
    return fc.tuple(field, operators, operand).map(([name, operator, value]) => {
      const pair = [name, `${operator}|${value}`].map((part) => encoded(part));
      return pair.join('=');
    });
  }

  private value({ schema = {} }: Parameter): fc.Arbitrary<string> {
    return this.values
      .of(schema)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  }

  private headers(operation: Operation): fc.Arbitrary<Record<string, string>> {
    const isSandbox = operation.path.includes('sandbox');
    const unusual = fc
      .constantFrom(...UNUSUAL_HEADERS)
      .chain(([name, values]) => fc.constantFrom(...values).map((value) => ({ [name]: value })));
    return fc.oneof(
      { weight: isSandbox ? 1 : 5, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: unusual },
    );
  }

  private payload({
    bodies,
    method,
  }: Operation): fc.Arbitrary<{ type?: string; body: string | undefined }> {
    const none = { body: undefined };
    const types = Object.entries(bodies);
    if (types.length === 0) {
      const stray = fc.constantFrom('{}', 'x', 'a=b').map((body) => ({ type: 'text/plain', body }));
      if (method === 'GET') return fc.constant(none);
      return fc.oneof({ weight: 6, arbitrary: fc.constant(none) }, { weight: 1, arbitrary: stray });
    }
    const proper = types.map(([type, schema]) => this.bodyOf(type, schema));
    const broken = fc
      .constantFrom(
        '',
        '{',
        '[]',
        'null',
        '"x"',
        '{"a":1}x',
        '\u{feff}{}',
        '{"a":'.repeat(200),
        '%%%=&&',
      )
      .chain((body) =>
        fc.constantFrom(...types.map(([type]) => ({ type: mediaType(type), body }))),
      );
    const wrong = fc
      .constantFrom('text/plain', 'application/xml', 'application/json; charset=latin1', '', 'x')
      .map((type) => ({ type, body: '{}' }));
    return fc.oneof(
      { weight: 8, arbitrary: fc.oneof(...proper) },
      { weight: 1, arbitrary: broken },
      { weight: 1, arbitrary: wrong },
      { weight: 1, arbitrary: fc.constant(none) },
    );
  }

  private bodyOf(
    type: string,
    schema: Record<string, unknown>,
  ): fc.Arbitrary<{ type: string; body: string }> {
    const value = fc.oneof(this.values.of(schema), this.values.spoiled(schema));
    if (type === 'application/x-ndjson') return this.lines().map((body) => ({ type, body }));
    if (type === 'application/x-www-form-urlencoded') {
      return fc
        .tuple(value, fc.nat())
        .map(([form, pick]) => ({ type, body: this.form(form, pick) }));
    }
    if (type === 'multipart/form-data') {
      return value.map((form) => ({ type: mediaType(type), body: multipart(form) }));
    }
    return value.map((json) => ({ type, body: JSON.stringify(json) ?? 'undefined' }));
  }

  /** A form; members with known values mostly have one of them. */
  private form(value: unknown, pick: number): string {
    const pairs = Object.entries((value ?? {}) as Record<string, unknown>).flatMap(
      ([name, member], index) => {
        const known = this.known[name];
        const chosen =
          known && (pick + index) % 3 > 0 ? known[(pick + index) % known.length] : member;
        const list = Array.isArray(chosen) ? (chosen as unknown[]) : [chosen];
        return list.map((one) => [
          name,
          typeof one === 'string' ? one : (JSON.stringify(one) ?? 'undefined'),
        ]);
      },
    );
    return pairs.map((pair) => pair.map((part) => encoded(part)).join('=')).join('&');
  }

  private lines(): fc.Arbitrary<string> {
    const path = fc.oneof(fc.constantFrom(...(this.known['path'] ?? ['/x'])), text());
    const line = fc.record(
      {
        kind: fc.oneof(fc.constantFrom('file', 'directory', 'field'), text()),
        path,
        name: fc.oneof(fc.constantFrom('energy', 'fuzzed'), text()),
        type: fc.constantFrom<unknown>('int', 'string', 'float', 'date', 7),
        op: fc.oneof(fc.constantFrom('put', 'delete'), text()),
        size: fc.oneof(fc.nat(), anything()),
        mode: fc.oneof(fc.nat({ max: 1023 }), anything()),
        owner: anything(),
        metadata: fc.oneof(fc.dictionary(text(), anything(), { maxKeys: 2 }), anything()),
        replicas: anything(),
      },
      { requiredKeys: ['kind'] },
    );
    const piece = fc.oneof(
      line.map((one) => JSON.stringify(one)),
      text(),
    );
    return fc.array(piece, { maxLength: 5 }).map((pieces) => `${pieces.join('\n')}\n`);
  }
}

/** Percent-encoded; lone surrogates, which UTF-8 has not, are replaced. */
function encoded(part: string): string {
  return encodeURIComponent(part.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}

function mediaType(type: string): string {
  return type === 'multipart/form-data' ? `${type}; boundary=${BOUNDARY}` : type;
}

function multipart(value: unknown): string {
  const parts = Object.entries((value ?? {}) as Record<string, unknown>).map(([name, member]) => {
    const field = name.replace(/["\r\n\0]/g, '');
    const file = field === 'manifest' ? '' : '; filename="f.txt"';
    const content = typeof member === 'string' ? member : JSON.stringify(member);
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"${file}\r\n\r\n${content}\r\n`;
  });
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}

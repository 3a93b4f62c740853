import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { RULES } from '../support/openapi/rules.js';

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as object;

const withSchema = (Wrong: object): object => ({ components: { schemas: { Wrong } } });
const withGet = (get: object): object => ({ paths: { '/things': { get } } });
const body = {
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Wrong' } } },
};
const AT = '/components/schemas/Wrong';

/** A document that breaks each rule, and where. */
const BROKEN: [rule: keyof typeof RULES, document: object, places: string[]][] = [
  [
    'every operation has a description, one tag and a security of its own',
    withGet({ description: 'Things', tags: ['things'] }),
    ['GET /things'],
  ],
  [
    'every part of a path has a description',
    { paths: { '/things/{id}': { get: { parameters: [{ name: 'id', in: 'path' }] } } } },
    ['GET /things/{id}: id'],
  ],
  ['the operations of the specification come first', withGet({}), ['/things']],
  [
    'no shape has the name of an answer of an operation, which Go gives its type',
    {
      ...withGet({ operationId: 'readThings' }),
      components: { schemas: { ReadThingsResponse: {} } },
    },
    ['ReadThingsResponse'],
  ],
  ['there is a licence', { info: {} }, ['info']],
  ['values of an enum differ by more than case', withSchema({ enum: ['a', 'A'] }), [AT]],
  ['an enum has texts or numbers', withSchema({ enum: [true] }), [AT]],
  ['a type is one, or one and null', withSchema({ type: ['string', 'number'] }), [AT]],
  ['no list is part of a union', withSchema({ oneOf: [{ type: 'array' }] }), [AT]],
  ['only lists have items', withSchema({ type: 'string', items: {} }), [AT]],
  [
    'bodies are closed',
    { ...withGet({ requestBody: body }), ...withSchema({ type: 'object', properties: {} }) },
    ['Wrong'],
  ],
  [
    'optional parameters have no example, which pages would send',
    withGet({ parameters: [{ name: 'sort', schema: { example: 'name' } }] }),
    ['GET /things sort'],
  ],
  [
    'examples are valid by their schema',
    withSchema({ type: 'integer', example: 'one' }),
    [`${AT}  must be integer`],
  ],
];

describe('docs/openapi.json', () => {
  it.each(Object.entries(RULES))('%s', (_holds, broken) => {
    expect(broken(document)).toEqual([]);
  });

  it.each(BROKEN)('would not be taken unless %s', (rule, wrong, places) => {
    expect(RULES[rule]?.(wrong)).toEqual(places);
  });

  it('has a broken document for every rule', () => {
    expect(BROKEN.map(([rule]) => rule)).toEqual(Object.keys(RULES));
  });
});

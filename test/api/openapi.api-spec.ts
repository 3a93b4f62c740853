import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';

type Json = Record<string, any>;
const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Json;
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const codes = document['components'].schemas.ProblemCode.enum as string[];

const operations = Object.entries(document['paths'] as Json).flatMap(([path, item]) =>
  METHODS.filter((method) => (item as Json)[method] !== undefined).map((method) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    operation: (item as Json)[method] as Json,
  })),
);
const rest = operations.filter(({ path }) => /^\/(jobs|filecatalogue)/.test(path));

/** Every schema of the document with the place where it stands. */
function* schemasIn(value: unknown, place: string): Generator<{ place: string; schema: Json }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'example' || key === 'examples') continue;
    if (key === 'schema') yield { place: `${place}/schema`, schema: inner as Json };
    yield* schemasIn(inner, `${place}/${key}`);
  }
}

it('docs/openapi.json is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(document);
  expect({ valid, errors, version: validator.version }).toEqual({ valid: true, version: '3.1' });
});

describe('docs/openapi.json', () => {
  it('sees every operation', () => {
    expect(document['openapi']).toBe('3.1.0');
    expect(operations.length).toBeGreaterThan(45);
    expect(rest.length).toBeGreaterThan(30);
  });

  it('gives every operation an id of its own', () => {
    const ids = operations.map(({ operation }) => operation['operationId'] as string);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(ids.length).toBe(new Set(ids).size);
  });

  it.each([
    ['POST /admin/users', ['user.exists', 'registry.conflict', 'registry.file-rules']],
    ['POST /admin/groups', ['group.exists', 'registry.conflict', 'registry.file-rules']],
    ['POST /admin/sites', ['site.exists', 'registry.conflict', 'registry.file-rules']],
    [
      'PATCH /admin/users/{user}',
      ['group.last-administrator', 'registry.conflict', 'registry.file-rules'],
    ],
  ])('names the conflicts of %s', (name, conflicts) => {
    const { operation } = operations.find((one) => one.name === name)!;
    const text = JSON.stringify((operation['responses'] as Json)['409']);
    const named = codes.filter((code) => text.includes(code));
    expect(named.sort()).toEqual([...conflicts].sort());
  });

  it.each(operations)('describes $name: summary, tag, an answer and an error', ({ operation }) => {
    const tags = (document['tags'] as Json[]).map(({ name }) => name as string);
    expect(String(operation['summary']).length).toBeGreaterThan(8);
    expect((operation['tags'] as string[]).filter((tag) => tags.includes(tag))).toHaveLength(1);
    const statuses = Object.keys(operation['responses'] as Json).map(Number);
    expect(statuses.some((status) => status < 400)).toBe(true);
    expect(statuses.some((status) => status >= 400)).toBe(true);
  });

  it.each(operations)('$name names error codes of the closed list only', ({ operation }) => {
    const errors = Object.entries(operation['responses'] as Json).filter(([s]) => Number(s) >= 400);
    const named = errors.flatMap(([, { description }]) =>
      [...String(description).matchAll(/`([a-z]+\.[a-z-]+)`/g)].map(([, code]) => code ?? ''),
    );
    expect(named.filter((code) => !codes.includes(code))).toEqual([]);
  });

  it.each(rest)('$name may be called with a token and says 400, 401, 403, 503', ({ operation }) => {
    const scope = (operation['security'] as Json[]).find((way) => way['oauth2'])?.[
      'oauth2'
    ] as string[];
    expect(scope).toHaveLength(1);
    expect(operation['security']).toContainEqual({ bearer: [] });
    const statuses = Object.keys(operation['responses'] as Json);
    expect(statuses).toEqual(expect.arrayContaining(['400', '401', '403', '503']));
    const problem = operation['responses']['401'].content['application/problem+json'];
    expect(problem.schema).toEqual({ $ref: '#/components/schemas/Problem' });
    expect(problem.example).toMatchObject({ status: 401, code: 'auth.token-missing' });
  });

  it('has a name for every object and every union of a body', () => {
    const unnamed = [...schemasIn(document['paths'], '')].filter(
      ({ place, schema }) =>
        !place.includes('/parameters/') &&
        (schema['type'] === 'object' || schema['oneOf'] || schema['anyOf'] || schema['allOf']),
    );
    expect(unnamed.map(({ place }) => place)).toEqual([]);
  });

  it('has no union and no object with members of its own inside a named shape', () => {
    const wrong: string[] = [];
    const visit = (value: unknown, place: string, isTop: boolean): void => {
      if (typeof value !== 'object' || value === null) return;
      const schema = value as Json;
      if (!isTop && (schema['oneOf'] || schema['anyOf'] || schema['properties'])) wrong.push(place);
      for (const [name, property] of Object.entries((schema['properties'] ?? {}) as Json)) {
        visit(property, `${place}.${name}`, false);
      }
      visit(schema['items'], `${place}[]`, false);
      visit(schema['additionalProperties'], `${place}{}`, false);
    };
    const schemas = Object.entries(document['components'].schemas as Json);
    for (const [name, schema] of schemas) visit(schema, name, true);
    expect(wrong).toEqual([]);
  });

  it('says a type for every parameter, so that generated methods take no unknown', () => {
    const vague = operations.flatMap(({ name, operation }) =>
      ((operation['parameters'] ?? []) as Json[])
        .filter(({ schema }) => !(schema as Json)?.['type'] && !(schema as Json)?.['$ref'])
        .map((parameter) => `${name} ${parameter['name']}`),
    );
    expect(vague).toEqual([]);
  });

  it('says something about every member: a type or a name', () => {
    const vague: string[] = [];
    const known = ['type', '$ref', 'oneOf', 'allOf', 'enum'];
    for (const [name, schema] of Object.entries(document['components'].schemas as Json)) {
      for (const [member, property] of Object.entries(
        ((schema as Json)['properties'] ?? {}) as Json,
      )) {
        const keys = Object.keys(property as Json);
        const isBare =
          (property as Json)['type'] === 'object' && keys.every((key) => !key.includes('Prop'));
        if (isBare || !known.some((key) => keys.includes(key))) vague.push(`${name}.${member}`);
      }
    }
    expect(vague).toEqual([]);
  });

  it('refers only to what is there', () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    const known = Object.keys(document['components'].schemas as Json);
    expect([...new Set(names)].filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });

  it('has an example for every part of a path', () => {
    const bare = rest.flatMap(({ name, operation }) =>
      ((operation['parameters'] ?? []) as Json[])
        .filter((one) => one['in'] === 'path')
        .filter((one) => (one['example'] ?? one['schema']?.example) === undefined)
        .map((one) => `${name}: ${one['name']}`),
    );
    expect(bare).toEqual([]);
  });
});

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Json = Record<string, any>;
/** What is wrong in a document, a line for each place. */
type Rule = (document: Json) => string[];

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** The rows of the specification, in its order; what is further comes after them. */
const SPECIFIED = [
  ['/oauth2/token', '/oauth2/groups', '/oauth2/setups', '/oauth2/auth'],
  ['/jobs', '/jobs/{jid}', '/jobs/{jid}/manifest', '/jobs/{jid}/inputsandbox'],
  ['/jobs/{jid}/outputsandbox', '/filecatalogue/metadata'],
  ['/filecatalogue/directory/{directory}', '/filecatalogue/directory/{directory}/metadata'],
  ['/filecatalogue/directory/{directory}/search', '/filecatalogue/file/{file}/attributes'],
  ['/filecatalogue/file/{file}/metadata'],
].flat();
/** Shapes of requests whose further members count or are ignored (RFC 6749 §3.1). */
const OPEN = /^Manifest(Upload)?Request$|Form$/;

/** What the document has to keep to so that common generators, linters and testers take it; by what holds. */
export const RULES: Record<string, Rule> = {
  'every operation has a description, one tag and a security of its own': (document) =>
    operationsOf(document).flatMap(({ name, operation }) => {
      const { description, tags, security } = operation;
      return description && tags?.length === 1 && Array.isArray(security) ? [] : [name];
    }),
  'every part of a path has a description': (document) =>
    operationsOf(document)
      .flatMap(({ name, operation: { parameters = [] } }) =>
        [...name.matchAll(/\{(\w+)\}/g)].map(([, part]) => ({ name, part, parameters })),
      )
      .filter(({ part, parameters }) =>
        (parameters as Json[]).every((one) => one['name'] !== part || !one['description']),
      )
      .map(({ name, part }) => `${name}: ${part}`),
  'the operations of the specification come first': ({ paths }) => {
    const first = Object.keys(paths as Json).slice(0, SPECIFIED.length);
    return first.filter((path, at) => path !== SPECIFIED[at]);
  },
  'no shape has the name of an answer of an operation, which Go gives its type': (document) =>
    operationsOf(document)
      .map(({ operation }) => String(operation['operationId']).replace(/^./, upper) + 'Response')
      .filter((name) => name in ((document['components']?.schemas ?? {}) as Json)),
  'there is a licence': ({ info }) => (info.license?.url ? [] : ['info']),
  'values of an enum differ by more than case': everySchema(({ enum: values = [] }) => {
    const texts = (values as unknown[]).map((value) => String(value).toLowerCase());
    return new Set(texts).size === texts.length;
  }),
  'an enum has texts or numbers': everySchema(({ enum: values = [] }) =>
    (values as unknown[]).every((value) => ['string', 'number'].includes(typeof value)),
  ),
  'a type is one, or one and null': everySchema(
    ({ type }) => !Array.isArray(type) || (type.length === 2 && type.includes('null')),
  ),
  'no list is part of a union': everySchema(({ oneOf = [], anyOf = [] }) =>
    [...oneOf, ...anyOf].every((one: Json) => one['type'] !== 'array'),
  ),
  'only lists have items': everySchema(
    ({ type, items }) => items === undefined || [type].flat().includes('array'),
  ),
  'bodies are closed': (document) => {
    const { schemas } = document['components'] as Json;
    const closed = (name: string): boolean => {
      const { properties, additionalProperties } = schemas[name] as Json;
      return !properties || OPEN.test(name) || additionalProperties !== undefined;
    };
    const bodies = operationsOf(document).map(({ operation }) => operation['requestBody'] as Json);
    return [...namesWithin(bodies, schemas as Json)].filter((name) => !closed(name));
  },
  'optional parameters have no example, which pages would send': (document) =>
    operationsOf(document).flatMap(({ name, operation }) =>
      ((operation['parameters'] ?? []) as Json[])
        // without `wait` the answer of a feed has no end
        .filter(({ name: key, required }) => !required && key !== 'wait')
        .filter(({ example, schema }) => example ?? schema.example)
        .map((parameter) => `${name} ${parameter['name']}`),
    ),
  'examples are valid by their schema': examplesFault,
};

const upper = (letter: string): string => letter.toUpperCase();

/** All operations with their names. */
function operationsOf({ paths }: Json): { name: string; operation: Json }[] {
  return Object.entries(paths as Json).flatMap(([path, item]) =>
    METHODS.filter((method) => (item as Json)[method]).map((method) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation: (item as Json)[method] as Json,
    })),
  );
}

/** Every object of the document but those of examples, with its place. */
function* objectsIn(value: unknown, place = ''): Generator<[place: string, value: Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [place, value];
  for (const [key, inner] of Object.entries(value)) {
    if (key !== 'example') yield* objectsIn(inner, `${place}/${key.replaceAll('/', '~1')}`);
  }
}

function everySchema(holds: (schema: Json) => boolean): Rule {
  return (document) =>
    [...objectsIn(document)]
      .filter(([place]) => !place.endsWith('/properties'))
      .filter(([, schema]) => !holds(schema))
      .map(([place]) => place);
}

/** The names of the shapes that a value refers to, and those refer to. */
function namesWithin(value: unknown, schemas: Json, known = new Set<string>()): Set<string> {
  for (const [, { $ref }] of objectsIn(value)) {
    const name = String($ref).split('/').at(-1) ?? '';
    if (!(name in schemas) || known.has(name)) continue;
    known.add(name);
    namesWithin(schemas[name], schemas, known);
  }
  return known;
}

function examplesFault(document: Json): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  for (const format of ['binary', 'int64']) ajv.addFormat(format, true);
  ajv.addSchema(document, 'document');
  return [...objectsIn(document)].flatMap(([place, { example, schema }]) => {
    if (example === undefined) return [];
    const pointer = schema === undefined ? place : `${place}/schema`;
    const { $ref } = (schema ?? {}) as { $ref?: string };
    const validate = ajv.compile({ $ref: `document${$ref ?? `#${encodeURI(pointer)}`}` });
    if (validate(example)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) =>
      `${place} ${instancePath} ${message ?? ''}`.trim(),
    );
  });
}

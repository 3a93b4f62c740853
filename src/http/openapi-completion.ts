import type { OpenAPIObject } from '@nestjs/swagger';
import {
  ERROR_SCHEMAS,
  errorAnswer,
  standardErrors,
  type OpenApiSchema,
  type OperationNature,
} from './openapi-errors.js';
import { FORM_BODY, OPTIONAL_BODY } from './request-class.js';

interface Content {
  schema?: OpenApiSchema;
  example?: unknown;
}
interface Answer {
  description: string;
  content?: Record<string, Content>;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: OpenApiSchema;
}
interface Operation {
  operationId: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, Content> };
  responses: Record<string, Answer>;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;
const OAUTH_ERROR = {
  'application/json': { schema: { $ref: '#/components/schemas/OAuthError' } },
};
const BY_MEDIA_TYPE = 'x-by-media-type';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** A part of paths, the same wherever it stands. */
export interface PathParameter {
  description: string;
  schema: OpenApiSchema;
}

/** What the decorators cannot say. */
export interface CompletionInput {
  /** Named shapes that no class describes. */
  schemas: Record<string, OpenApiSchema>;
  /** Names of the shapes that may have no further members: what reads them refuses unknown ones. */
  closed: readonly string[];
  /** Paths of pages for people. */
  pages: RegExp;
  /** By their names. */
  pathParameters: Readonly<Record<string, PathParameter>>;
  /** Under which heading a path stands. */
  tagOf: (path: string) => string;
}

/** The schema of a body that differs from media type to media type. For `@ApiBody({ schema })`. */
export function schemaByMediaType(schemas: Record<string, OpenApiSchema>): OpenApiSchema {
  return { [BY_MEDIA_TYPE]: schemas };
}

/**
 * Completes what the decorators say, in place: every operation names its errors with their codes, every shape has a
 * name (bodies without one are named after their operation), and certificates appear as a way to authenticate.
 */
export function completeOpenApi(
  document: OpenAPIObject,
  { schemas: named, closed, pages, pathParameters, tagOf }: CompletionInput,
): OpenAPIObject {
  const components = (document.components ??= {});
  const schemas = { ...(components.schemas as Record<string, OpenApiSchema>), ...named };
  Object.assign(schemas, ERROR_SCHEMAS);
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = (item as Record<string, Operation | undefined>)[method];
      if (!operation) continue;
      operation.summary = operation.summary?.replace(/\.$/, '');
      operation.tags = [tagOf(path)];
      completePath(operation, path, pathParameters);
      takeForms(operation, schemas);
      nameBodies(operation, schemas);
      completeNeed(operation, schemas);
      if (pages.test(path)) completePage(operation, method);
      else completeErrors(operation, path);
    }
  }
  for (const schema of Object.values(schemas)) {
    cleanReferences(schema);
    delete schema[OPTIONAL_BODY];
    delete schema[FORM_BODY];
  }
  for (const name of closed) {
    const schema = schemas[name];
    if (schema === undefined) throw new Error(`no shape is called ${name}`);
    schema['additionalProperties'] = false;
  }
  components.schemas = sorted(schemas);
  (components.securitySchemes as Record<string, unknown>)['certificate'] = {
    type: 'mutualTLS',
    description: 'The certificate of a known user, shown in the TLS handshake',
  };
  return document;
}

/** Describes the parts of the path, which come first and in its order. */
function completePath(
  operation: Operation,
  path: string,
  known: CompletionInput['pathParameters'],
): void {
  const parameters = operation.parameters ?? [];
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): Parameter => {
    const own = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name);
    if (own?.description !== undefined) return own;
    const description = known[name];
    if (!description) throw new Error(`nothing describes {${name}} of ${path}`);
    return { name, required: true, in: 'path', ...description };
  });
  operation.parameters = [...inPath, ...parameters.filter((parameter) => parameter.in !== 'path')];
}

/** A body whose class says that it is a form is one. */
function takeForms({ requestBody }: Operation, schemas: Record<string, OpenApiSchema>): void {
  const body = requestBody?.content['application/json'];
  if (!requestBody || !body || !schemaOf(body, schemas)?.[FORM_BODY]) return;
  requestBody.content = { [FORM_TYPE]: body };
}

/** The named shape that the content refers to. */
function schemaOf(
  { schema }: Content,
  schemas: Record<string, OpenApiSchema>,
): OpenApiSchema | undefined {
  return schemas[String(schema?.['$ref']).split('/').at(-1) ?? ''];
}

/** Gives parameters a type, and bodies of requests and answers a named shape. */
function nameBodies(operation: Operation, schemas: Record<string, OpenApiSchema>): void {
  const title = operation.operationId.replace(/^./, (first) => first.toUpperCase());
  for (const parameter of operation.parameters ?? []) completeParameter(parameter);
  for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
    const choice = content.schema?.[BY_MEDIA_TYPE] as Record<string, OpenApiSchema> | undefined;
    if (choice?.[type]) content.schema = choice[type];
    nameSchema(content, `${title}Request`, schemas);
  }
  for (const answer of Object.values(operation.responses)) {
    for (const content of Object.values(answer.content ?? {})) {
      nameSchema(content, `${title}Response`, schemas);
    }
  }
}

/** A body may be missing when its class says so. */
function completeNeed({ requestBody }: Operation, schemas: Record<string, OpenApiSchema>): void {
  for (const content of Object.values(requestBody?.content ?? {})) {
    if (requestBody && schemaOf(content, schemas)?.[OPTIONAL_BODY]) requestBody.required = false;
  }
}

/** Every operation names the errors that it may answer. */
function completeErrors(operation: Operation, path: string): void {
  const nature = natureOf(operation, path);
  const errors = standardErrors(nature);
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (Number(status) >= 400) errors[status] = answer.description;
  }
  if (isDownload(operation)) {
    const { '200': whole } = operation.responses;
    operation.responses['206'] = { ...whole, description: 'The bytes that `Range` asked for' };
    if (path.endsWith('sandbox')) {
      operation.responses['307'] = { description: 'To the object store (GRID_S3_PRESIGN)' };
    }
    operation.responses['304'] = { description: 'Unchanged: `If-None-Match` names its ETag' };
    errors['416'] = 'There are no such bytes';
  }
  for (const [status, description] of Object.entries(errors)) {
    if (nature.isProbe && operation.responses[status]) continue;
    operation.responses[status] = errorAnswer(status, description, nature);
  }
}

function isDownload({ responses }: Operation): boolean {
  const contents = Object.values(responses['200']?.content ?? {});
  return contents.some(({ schema }) => schema?.['format'] === 'binary');
}

/** The pages for people answer faults with a page, too. */
function completePage(operation: Operation, method: string): void {
  const content = { 'text/html': { schema: { type: 'string' } } };
  const { '201': _, '302': redirect, ...answers } = operation.responses; // 201: Nest's default for POST
  operation.responses = {
    ...answers,
    // after a form the browser comes back with GET
    ...(redirect && { [method === 'post' ? '303' : '302']: redirect }),
    ...(!redirect || answers['200']
      ? {
          '200': {
            ...answers['200'],
            description: answers['200']?.description || 'A page',
            content,
          },
        }
      : {}),
    // a path that cannot be decoded never reaches the page
    '400': {
      description: 'A page that says what is wrong',
      content: { ...content, ...OAUTH_ERROR },
    },
    ...(operation.requestBody && {
      '403': { description: 'A page: the form is not one of this session', content },
      '413': { description: 'A page: the form is too large', content },
      '415': { description: 'A page: this is no form', content },
    }),
    '429': { description: 'A page: too many requests; see Retry-After', content },
    '503': {
      description: 'A page: temporarily unavailable; see Retry-After',
      content: { ...content, ...OAUTH_ERROR },
    },
  };
}

function natureOf(operation: Operation, path: string): OperationNature {
  const ways = (operation.security ?? []).flatMap((way) => Object.keys(way));
  const hasBody = operation.requestBody !== undefined;
  return {
    path,
    hasBody,
    isBearer: ways.includes('bearer'),
    isCertificate: ways.includes('certificate'),
    hasInput: hasBody || (operation.parameters ?? []).length > 0,
    isOAuth: path.startsWith('/oauth2/'),
    isProbe: path.startsWith('/health/') || path.startsWith('/.well-known/'),
  };
}

/** A parameter about whose type nothing is said is a text. */
function completeParameter(parameter: Parameter): void {
  const { schema } = parameter;
  if (!schema || Object.keys(schema).length === 0) parameter.schema = { type: 'string' };
  const items = schema?.['items'] as OpenApiSchema | undefined;
  if (schema && items && Object.keys(items).length === 0) schema['items'] = { type: 'string' };
}

/** Objects and unions without a name get one. */
function nameSchema(content: Content, name: string, schemas: Record<string, OpenApiSchema>): void {
  const { schema } = content;
  if (!schema || schema['$ref'] !== undefined) return;
  const isPlain = schema['type'] === 'string' || schema['type'] === 'array';
  if (isPlain) return;
  schemas[name] ??= schema;
  content.schema = { $ref: `#/components/schemas/${name}` };
}

/** Properties that refer to a named shape carry the `object` of their TypeScript type; the shape knows better. */
function cleanReferences(schema: OpenApiSchema): void {
  for (const property of Object.values(
    (schema['properties'] ?? {}) as Record<string, OpenApiSchema>,
  )) {
    if (property['$ref'] !== undefined) delete property['type'];
  }
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

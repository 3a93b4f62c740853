import type { OpenAPIObject } from '@nestjs/swagger';
import {
  ERROR_SCHEMAS,
  errorAnswer,
  standardErrors,
  type OpenApiSchema,
} from './openapi-errors.js';
import { FORM_BODY, OPEN_BODY, OPTIONAL_BODY } from './request-class.js';

interface Content {
  schema?: OpenApiSchema;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: OpenApiSchema;
}
interface Operation {
  summary?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, Content> };
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
}
interface Shown {
  $ref?: string;
  items?: OpenApiSchema;
  allOf?: OpenApiSchema[];
  oneOf?: OpenApiSchema[];
  properties?: Schemas;
  additionalProperties?: OpenApiSchema | boolean;
}
/** Without it the answer of a feed has no end, so pages are to send it. */
const ENDING = 'wait';
type Schemas = Record<string, OpenApiSchema>;

/**
 * Completes what the decorators say, in place: every operation names its errors with their codes, and bodies are what their classes
 * say of them. `named`: shapes that no class describes.
 */
export function completeOpenApi(document: OpenAPIObject, named: Schemas): OpenAPIObject {
  const components = (document.components ??= {});
  const schemas = { ...(components.schemas as Schemas), ...named, ...ERROR_SCHEMAS };
  for (const [path, item] of Object.entries(document.paths)) {
    for (const operation of Object.values(item as Record<string, Operation>)) {
      if (operation.summary) operation.summary = operation.summary.replace(/\.$/, '');
      completeParameters(operation);
      operation.security ??= [];
      completeBody(operation, schemas);
      if (!isPage(operation)) completeErrors(operation, path);
    }
  }
  for (const schema of Object.values(schemas)) {
    delete schema[OPTIONAL_BODY];
    delete schema[FORM_BODY];
    delete schema[OPEN_BODY];
    // A member that refers to a named shape carries the `object` of its TypeScript type; the shape knows better.
    for (const member of Object.values((schema['properties'] ?? {}) as Schemas)) {
      if (member['$ref'] !== undefined) delete member['type'];
    }
  }
  const byName = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  components.schemas = Object.fromEntries(byName);
  return document;
}

/** Parts of the path come first. An optional parameter says its example in words: pages that try requests would send it. */
function completeParameters({ parameters = [] }: Operation): void {
  const isPath = (parameter: Parameter): number => Number(parameter.in === 'path');
  parameters.sort((a, b) => isPath(b) - isPath(a));
  for (const parameter of parameters.filter(({ name, required }) => !required && name !== ENDING)) {
    const { description, schema: { example, ...schema } = {} } = parameter;
    if (schema['type'] !== 'array') delete schema['items']; // of the list that a reader makes of a text
    parameter.schema = schema;
    if (example === undefined) continue;
    const text = typeof example === 'string' ? example : JSON.stringify(example);
    parameter.description = `${description ? `${description}; for` : 'For'} example \`${text}\``;
  }
}

/** A body whose class says that it is a form is one; a body may be missing when its class says so. */
function completeBody({ requestBody }: Operation, schemas: Schemas): void {
  for (const { schema } of Object.values(requestBody?.content ?? {})) close(schema, schemas);
  const json = requestBody?.content['application/json'];
  if (!requestBody || !json) return;
  const shape = schemas[String(json.schema?.['$ref']).split('/').at(-1) ?? ''];
  if (shape?.[FORM_BODY]) requestBody.content = { 'application/x-www-form-urlencoded': json };
  const isNeeded = Array.isArray(shape?.['required']) && shape[FORM_BODY] === true;
  if (shape?.[OPTIONAL_BODY] && !isNeeded) requestBody.required = false;
}

/** Unknown members of a body and of the objects in it are refused, unless their class says otherwise. */
function close(schema: OpenApiSchema | undefined, schemas: Schemas): void {
  if (schema === undefined) return;
  const {
    $ref,
    items,
    allOf = [],
    oneOf = [],
    properties = {},
    additionalProperties,
  } = schema as Shown;
  if (schema['properties'] && additionalProperties === undefined) {
    if (!schema[OPEN_BODY]) schema['additionalProperties'] = false;
    else if (schema[FORM_BODY]) schema['additionalProperties'] = { type: 'string' }; // each once
  }
  const named = schemas[String($ref).split('/').at(-1) ?? ''];
  const further = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  for (const one of [named, items, further, ...allOf, ...oneOf, ...Object.values(properties)]) {
    close(one, schemas);
  }
}

/** Pages for people answer faults with a page, which their decorator describes. */
function isPage({ responses }: Operation): boolean {
  return Object.values(responses).some(({ content }) => content?.['text/html'] !== undefined);
}

/** Every operation names the errors that it may answer. */
function completeErrors(operation: Operation, path: string): void {
  const { responses, security = [], parameters = [], requestBody } = operation;
  const ways = security.flatMap((way) => Object.keys(way));
  const hasBody = requestBody !== undefined;
  const nature = {
    path,
    hasBody,
    isBearer: ways.includes('bearer'),
    isCertificate: ways.includes('certificate'),
    hasInput: hasBody || parameters.length > 0,
    isOAuth: path.startsWith('/oauth2/'),
    isProbe: path.startsWith('/health/') || path.startsWith('/.well-known/'),
  };
  const errors = standardErrors(nature);
  for (const [status, { description }] of Object.entries(responses)) {
    if (Number(status) >= 400) errors[status] = description;
  }
  for (const [status, description] of Object.entries(errors)) {
    if (nature.isProbe && responses[status]) continue;
    responses[status] = errorAnswer(status, description, nature);
  }
}

import { readFileSync } from 'node:fs';

/** A schema of OpenAPI 3.1, which is JSON Schema 2020-12. */
export type Schema = Record<string, any>;

/** One parameter of an operation. */
export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  schema?: Schema;
  example?: unknown;
}

/** One documented answer. */
export interface DescribedAnswer {
  content?: Record<string, { schema?: Schema }>;
  headers?: Record<string, unknown>;
}

/** One operation of the document. */
export interface Operation {
  name: string;
  method: string;
  path: string;
  parameters: Parameter[];
  bodies: Record<string, Schema>;
  responses: Record<string, DescribedAnswer>;
  /** How it authenticates, by the names of the security schemes; none where nothing is asked for. */
  ways: string[];
}

/** The document docs/openapi.json. */
export interface ApiDocument {
  operations: Operation[];
  schemas: Record<string, Schema>;
}

type Json = Record<string, any>;

/** Reads docs/openapi.json. */
export function readDocument(): ApiDocument {
  const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Json;
  const operations = Object.entries(document['paths'] as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, operation]) =>
      operationOf(method.toUpperCase(), path, operation as Json),
    ),
  );
  return { operations, schemas: document['components'].schemas };
}

function operationOf(method: string, path: string, operation: Json): Operation {
  const security = (operation['security'] ?? []) as Json[];
  const isOpen = security.some((way) => Object.keys(way).length === 0);
  const contents = (operation['requestBody']?.content ?? {}) as Json;
  return {
    name: `${method} ${path}`,
    method,
    path,
    parameters: operation['parameters'] ?? [],
    bodies: Object.fromEntries(
      Object.entries(contents).map(([type, content]) => [type, (content as Json)['schema'] ?? {}]),
    ),
    responses: operation['responses'],
    ways: isOpen ? [] : security.flatMap((way) => Object.keys(way)),
  };
}

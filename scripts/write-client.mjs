/**
 * Writes src/client/generated/ from docs/openapi.json: a type for every schema and a method for every operation.
 * Pages for people are left out.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { root } from './run.mjs';

const HEADER = '// Generated from docs/openapi.json by scripts/write-client.mjs; do not edit.\n\n';
const FOLDER = 'src/client/generated';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** Answers to a failed bulk line and the like are read line by line, not as one document. */
const STREAM = 'application/x-ndjson';

const nameOf = (ref) => ref.split('/').at(-1);
const isName = (text) => /^[A-Za-z_$][\w$]*$/.test(text);
const key = (name) => (isName(name) ? name : JSON.stringify(name));
const title = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The TypeScript type of a schema. */
export function typeOf(schema) {
  if (!schema || Object.keys(schema).length === 0) return 'unknown';
  if (schema.$ref) return nameOf(schema.$ref);
  // What other generators make no code of has `x-` before it.
  const values = schema.enum ?? schema['x-values'];
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  const union = schema.oneOf ?? schema.anyOf ?? schema['x-one-of'];
  if (union) return withBigint(union.map(typeOf)).join(' | ');
  if (schema.allOf)
    return [...schema.allOf.map(typeOf), ownObject(schema)].filter(Boolean).join(' & ');
  if (Array.isArray(schema.type))
    return withBigint(schema.type.map((type) => typeOf({ ...schema, type }))).join(' | ');
  if (schema.type === 'array') return `(${typeOf(schema.items)})[]`;
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type === 'boolean') return 'boolean';
  if (schema.type === 'null') return 'null';
  if (schema.type === 'string') return schema.format === 'binary' ? 'Blob' : 'string';
  return ownObject(schema) ?? 'Record<string, unknown>';
}

/** Where a number or a text may stand, users have values of their own: integers beyond 2^53 are among them. */
function withBigint(types) {
  const isOfUsers = types.includes('number') && types.includes('string');
  return isOfUsers ? [...types, 'bigint'] : types;
}

function ownObject({ properties, required = [], additionalProperties }) {
  const members = Object.entries(properties ?? {}).map(([name, schema]) => {
    const optional = required.includes(name) ? '' : '?';
    return `${docOf(schema)}${key(name)}${optional}: ${typeOf(schema)};`;
  });
  if (members.length > 0) {
    if (additionalProperties) members.push('[name: string]: unknown;');
    return `{ ${members.join('\n')} }`;
  }
  if (!additionalProperties) return undefined;
  return `Record<string, ${additionalProperties === true ? 'unknown' : typeOf(additionalProperties)}>`;
}

function docOf({ description, summary }, indent = '') {
  const lines = [summary, description]
    .filter(Boolean)
    .join('\n\n')
    .replaceAll('*/', '* /')
    .split('\n');
  if (lines.length === 1 && lines[0] === '') return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line && ' '}${line}\n`).join('')}${indent} */\n`;
}

/** Where a schema without words of its own stands: in which bodies and answers, else in which other schemas. */
function usesOf(name, { paths, components }) {
  const names = (value) => JSON.stringify(value ?? {}).includes(`"#/components/schemas/${name}"`);
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      text: `\`${method.toUpperCase()} ${path}\``,
      operation: item[method],
    })),
  );
  const listed = (which) => operations.filter(which).map(({ text }) => text);
  const sent = listed(({ operation }) => names(operation.requestBody));
  if (sent.length > 0) return `Body of ${sent.join(', ')}.`;
  const answered = listed(({ operation }) => names(operation.responses));
  if (answered.length > 0) return `Answer of ${answered.join(', ')}.`;
  const within = Object.entries(components.schemas).filter(([, schema]) => names(schema));
  return `Part of ${within.map(([other]) => `{@link ${other}}`).join(', ')}.`;
}

function schemasFile(document) {
  const types = Object.entries(document.components.schemas).map(([name, schema]) => {
    const type = typeOf(schema);
    const isInterface =
      type.startsWith('{') && type.endsWith('}') && !schema.allOf && !schema.oneOf;
    const declaration = isInterface
      ? `export interface ${name} ${type}`
      : `export type ${name} = ${type};`;
    const description = schema.description ?? usesOf(name, document);
    return `${docOf({ description })}${declaration}\n`;
  });
  return `${HEADER}${types.join('\n')}`;
}

/** Everything that a method of the client is made from. */
function operationOf(path, method, operation) {
  const success = Object.entries(operation.responses).find(([status]) =>
    status.startsWith('2'),
  )?.[1];
  if (!success) return undefined; // only redirects, for browsers
  const answers = Object.entries(success.content ?? {});
  if (answers.some(([type]) => type === 'text/html')) return undefined;
  const json = answers.find(([type]) => type === 'application/json');
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  const parameters = operation.parameters ?? [];
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    doc: docOf(operation),
    result: json ? typeOf(json[1].schema) : answers.length > 0 ? 'Blob' : 'void',
    isJson: json !== undefined,
    inPath: parameters
      .filter((one) => one.in === 'path')
      .sort((a, b) => path.indexOf(`{${a.name}}`) - path.indexOf(`{${b.name}}`)),
    query: parameters
      .filter((one) => one.in === 'query' && one.name !== 'access_token')
      .map((one) => ({ ...one, schema: { 'x-values': one['x-values'], ...one.schema } })),
    body: bodies.find(([type]) => type === 'application/json') ?? bodies[0],
    isMultipart: bodies.some(([type]) => type === 'multipart/form-data'),
    isBodyRequired: operation.requestBody?.required !== false,
  };
}

function queryInterface({ id, query }) {
  const free = query.filter((one) => one.name === 'conditions');
  const members = query
    .filter((one) => one.name !== 'conditions')
    .map(({ name, required, description, schema }) => {
      const list = schema?.type === 'array';
      const type = list ? `${typeOf(schema.items)} | (${typeOf(schema.items)})[]` : typeOf(schema);
      return `${docOf({ description })}${key(name)}${required ? '' : '?'}: ${type};`;
    });
  if (free.length > 0) members.push(`${docOf(free[0])}conditions?: Conditions;`);
  return `/** Query of {@link Operations.${id}}. */\nexport interface ${title(id)}Query { ${members.join('\n')} }\n`;
}

function bodyType({ body, isMultipart }) {
  const [type, { schema }] = body;
  if (type === STREAM) return 'BodyText';
  return isMultipart ? `${typeOf(schema)} | FormData` : typeOf(schema);
}

function methodText(operation) {
  const { id, method, path, inPath, query, body, result, isJson, doc } = operation;
  const needsQuery = query.some((one) => one.required);
  const parts = inPath.map(({ name, schema }) => `${name}: ${typeOf(schema)}`);
  if (body)
    parts.push(
      `body${operation.isBodyRequired ? '' : ' = {}'}: ${bodyType(operation)}`.replace(
        ' = {}:',
        '?:',
      ),
    );
  if (query.length > 0) parts.push(`query: ${title(id)}Query${needsQuery ? '' : ' = {}'}`);
  parts.push('options: CallOptions = {}');
  const target = path.replace(/\{(\w+)\}/g, (_, name) => `\${pathPart(${name})}`);
  const request = [
    `method: '${method}'`,
    `path: \`${target}\``,
    query.length > 0 && 'query',
    body && `body, type: '${body[0]}'`,
    `answer: '${isJson ? 'json' : result === 'Blob' ? 'blob' : 'nothing'}'`,
  ].filter(Boolean);
  const text = `${id}(${parts.join(', ')}): Promise<${result}> { return this.call<${result}>({ ${request.join(', ')} }, options); }`;
  return `${doc}${text}\n`;
}

function operationsFile(document) {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method])
      .map((method) => operationOf(path, method, item[method]))
      .filter(Boolean),
  );
  const methods = operations.map(methodText).join('\n');
  const queries = operations
    .filter(({ query }) => query.length > 0)
    .map(queryInterface)
    .join('\n');
  const used = Object.keys(document.components.schemas).filter((name) =>
    new RegExp(`\\b${name}\\b`).test((methods + queries).replace(/\/\*\*[\s\S]*?\*\//g, '')),
  );
  const words = ['BodyText', 'CallOptions', 'Conditions', 'OperationRequest'].filter(
    (word) => word === 'OperationRequest' || new RegExp(`\\b${word}\\b`).test(methods + queries),
  );
  return [
    HEADER,
    `import { pathPart, type ${words.join(', type ')} } from '../request/operation-request.js';\n`,
    `import type { ${used.join(', ')} } from './schemas.js';\n\n`,
    queries,
    '\n/** Every operation of the interface; how a call is made is up to the class that extends it. */\n',
    'export abstract class Operations {\n',
    '/** Makes the call and answers its body. */\n',
    'protected abstract call<T>(request: OperationRequest, options: CallOptions): Promise<T>;\n\n',
    methods,
    '}\n',
  ].join('');
}

/** The generated files of a document: path → text. */
export async function clientFiles(document) {
  const options = { ...(await resolveConfig(join(root, 'src/client/x.ts'))), parser: 'typescript' };
  const files = {
    [`${FOLDER}/schemas.ts`]: schemasFile(document),
    [`${FOLDER}/operations.ts`]: operationsFile(document),
  };
  for (const [path, text] of Object.entries(files)) files[path] = await format(text, options);
  return files;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const source = process.argv.find((word) => word.endsWith('.json')) ?? 'docs/openapi.json';
  const files = await clientFiles(JSON.parse(readFileSync(join(root, source), 'utf8')));
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, path);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

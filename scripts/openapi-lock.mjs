/**
 * The interface as sorted lines, one for each operation, parameter, body, answer and field: what a change of the interface changes,
 * and nothing else. Texts, examples and the order of the document are not in it.
 */
export function interfaceLines(document) {
  const lines = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (typeof operation === 'object' && 'responses' in operation) {
        lines.push(...operationLines(`${method.toUpperCase()} ${path}`, operation));
      }
    }
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    lines.push(`${name}: ${typeOf(schema)}`, ...fieldLines(name, schema));
  }
  return lines.sort();
}

function* operationLines(name, { operationId, parameters = [], requestBody, responses }) {
  yield `${name} ${operationId}`;
  for (const { in: place, name: key, required, schema } of parameters) {
    yield `${name} ${place} ${key}${required ? '' : '?'}: ${typeOf(schema)}`;
    yield* fieldLines(`${name} ${place} ${key}`, schema);
  }
  for (const [type, { schema }] of Object.entries(requestBody?.content ?? {})) {
    yield `${name} body ${type}${requestBody.required ? '' : '?'}: ${typeOf(schema)}`;
    yield* fieldLines(`${name} body ${type} `, schema);
  }
  for (const [status, { content = {}, headers = {} }] of Object.entries(responses)) {
    yield `${name} ${status}`;
    for (const header of Object.keys(headers)) yield `${name} ${status} header ${header}`;
    for (const [type, { schema }] of Object.entries(content)) {
      yield `${name} ${status} ${type}: ${typeOf(schema)}`;
      yield* fieldLines(`${name} ${status} ${type} `, schema);
    }
  }
}

/** Lines of the fields of a schema, also those of schemas without a name in it. */
function* fieldLines(name, schema = {}) {
  const {
    properties = {},
    required = [],
    items,
    allOf,
    anyOf,
    oneOf,
    additionalProperties,
  } = schema;
  for (const [key, inner] of Object.entries(properties)) {
    yield `${name}.${key}${required.includes(key) ? '' : '?'}: ${typeOf(inner)}`;
    yield* fieldLines(`${name}.${key}`, inner);
  }
  if (items) yield* fieldLines(`${name}[]`, items);
  if (typeof additionalProperties === 'object')
    yield* fieldLines(`${name}{}`, additionalProperties);
  for (const inner of [...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? [])]) {
    yield* fieldLines(name, inner);
  }
}

/** Type and bounds of a schema in one line. */
function typeOf(schema = {}) {
  const { $ref, items, allOf, anyOf, oneOf, additionalProperties } = schema;
  if ($ref) return $ref.split('/').at(-1);
  const bounds = BOUNDS.filter((key) => key in schema).map(
    (key) => `${key}=${JSON.stringify(schema[key])}`,
  );
  const inner = [
    ...(items ? [`[${typeOf(items)}]`] : []),
    ...(typeof additionalProperties === 'object' ? [`{${typeOf(additionalProperties)}}`] : []),
    ...(allOf ?? []).map((one) => `& ${typeOf(one)}`),
    ...[...(anyOf ?? []), ...(oneOf ?? [])].map((one) => `| ${typeOf(one)}`),
  ];
  return [[schema.type ?? ''].flat().join('|'), ...inner, ...bounds].filter(Boolean).join(' ');
}

const BOUNDS = [
  ...['format', 'enum', 'const', 'default', 'minimum', 'maximum', 'minLength', 'maxLength'],
  ...['pattern', 'minItems', 'maxItems'],
];

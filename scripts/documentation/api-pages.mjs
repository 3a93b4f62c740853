/** The reference of the HTTP interface, a page of Markdown for each tag of docs/openapi.json and one for its shapes. */
const PLACE = 'docs/reference/api';
const SHAPES = 'shapes.md';

/** In a cell of a table: one line, without the sign between cells. */
const cell = (text) => String(text).replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
const code = (text) => `\`${cell(text).replaceAll('`', "'")}\``;
const fence = (language, text) => ['```' + language, text, '```'].join('\n');
const example = (value) =>
  typeof value === 'string' ? fence('text', value) : fence('json', JSON.stringify(value, null, 2));

const fileOf = (tag) => `${tag.replaceAll(' ', '-')}.md`;
const nameOf = (reference) => reference.split('/').at(-1);
const anchorOf = (name) => name.toLowerCase();

/** The type of a schema in a few words; shapes that have a name are links. */
function typeOf(schema) {
  if (schema === undefined) return 'any';
  if (schema.$ref) return `[${nameOf(schema.$ref)}](${SHAPES}#${anchorOf(nameOf(schema.$ref))})`;
  const parts = schema.oneOf ?? schema.anyOf ?? schema.allOf;
  if (parts) return parts.map(typeOf).join(schema.allOf ? ' and ' : ' or ');
  if (schema.enum) return schema.enum.map((value) => code(JSON.stringify(value))).join(' ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  const types = [schema.type ?? 'any'].flat().join(' or ');
  return schema.items ? `list of ${typeOf(schema.items)}` : types;
}

const LIMITS = ['default', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'];

function limitsOf(schema = {}) {
  return LIMITS.filter((name) => schema[name] !== undefined).map(
    (name) => `${name} ${code(JSON.stringify(schema[name]))}`,
  );
}

function meaningOf(description, schema) {
  const words = [cell(description ?? schema?.description ?? ''), ...limitsOf(schema)];
  return words.filter((word) => word !== '').join('; ');
}

function parameterTable(parameters) {
  if (!parameters?.length) return [];
  const rows = parameters.map(
    ({ name, in: where, required, description, schema }) =>
      `| ${code(name)} | ${where}${required ? ', required' : ''} | ${typeOf(schema)} | ${meaningOf(description, schema)} |`,
  );
  return ['| Parameter | In | Type | Meaning |', '| --- | --- | --- | --- |', ...rows, ''];
}

function bodyOf(requestBody) {
  if (!requestBody) return [];
  const kinds = Object.entries(requestBody.content).map(
    ([type, { schema }]) => `- ${code(type)}: ${typeOf(schema)}`,
  );
  return [`**Body**${requestBody.required ? '' : ' (may be left out)'}`, '', ...kinds, ''];
}

function answersOf(responses) {
  const rows = Object.entries(responses).map(([status, { description, content = {}, headers }]) => {
    const types = [...new Set(Object.values(content).map(({ schema }) => typeOf(schema)))];
    const named = headers ? ` Headers: ${Object.keys(headers).map(code).join(' ')}.` : '';
    return `| ${status} | ${cell(types.join(' or '))} | ${cell(description)}${named} |`;
  });
  return ['| Status | Answer | When |', '| --- | --- | --- |', ...rows, ''];
}

const SIGN_IN = { bearer: 'an access token', certificate: 'the certificate of a user' };

function accessOf(security = []) {
  const scopes = new Set(security.flatMap(({ oauth2 = [] }) => oauth2));
  const ways = [...new Set(security.flatMap(Object.keys))].flatMap((kind) => SIGN_IN[kind] ?? []);
  if (ways.length === 0) return [];
  const demanded = [...scopes].map((scope) => code(scope)).join(' ');
  return [`Needs ${ways.join(' or ')}${demanded && `; scope ${demanded}`}.`, ''];
}

function operation([method, path, it]) {
  const lines = [
    `## ${it.summary}`,
    '',
    fence('text', `${method.toUpperCase()} ${path}`),
    '',
    `\`${it.operationId}\` of the clients. ${it.description ?? ''}`.trim(),
    '',
    ...accessOf(it.security),
    ...parameterTable(it.parameters),
    ...bodyOf(it.requestBody),
    ...answersOf(it.responses),
  ];
  return lines.join('\n');
}

function shape([name, schema]) {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(
    ([key, value]) =>
      `| ${code(key)}${required.has(key) ? ' (required)' : ''} | ${typeOf(value)} | ${meaningOf(undefined, value)} |`,
  );
  const table = ['| Member | Type | Meaning |', '| --- | --- | --- |', ...rows, ''];
  return [
    `## ${name}`,
    '',
    schema.description ?? '',
    '',
    ...(rows.length > 0 ? table : [typeOf({ ...schema, description: undefined }), '']),
    ...(schema.example === undefined ? [] : [example(schema.example), '']),
  ].join('\n');
}

/** `[source, text]` of each page. */
export function apiPages(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, it]) => [method, path, it]),
  );
  const tags = document.tags.map(({ name, description }) => {
    const own = operations.filter(([, , { tags: [tag] = [] }]) => tag === name);
    const text = [`# HTTP interface: ${name}`, '', description, '', ...own.map(operation)];
    return [fileOf(name), text.join('\n')];
  });
  const list = document.tags.map(
    ({ name, description }) => `- [${name}](${fileOf(name)}): ${description}`,
  );
  const index = [
    '# HTTP interface',
    '',
    `OpenAPI ${document.openapi}, version ${document.info.version}: [openapi.json](../../openapi.json). Every server has it at`,
    '`/docs-json`, and Swagger UI to try each operation at `/docs`.',
    '',
    document.info.description,
    '',
    ...list,
    `- [shapes](${SHAPES}): what requests and answers are made of`,
    '',
  ];
  const shapes = ['# HTTP interface: shapes', '', 'What requests and answers are made of.', ''];
  return [
    ['README.md', index.join('\n')],
    ...tags,
    [SHAPES, [...shapes, ...Object.entries(document.components.schemas).map(shape)].join('\n')],
  ].map(([file, text]) => [`${PLACE}/${file}`, text]);
}

import { PROBLEM_CODES, type ProblemCode } from '#src/kernel/index.js';
import { oauthErrorOf } from './problem-body.js';

/** A schema of OpenAPI 3.1, which is JSON Schema 2020-12. */
export type OpenApiSchema = Record<string, unknown>;

const PROBLEM_TYPE = 'application/problem+json';
const OAUTH_TYPE = 'application/json';

/** Codes by their beginning that only some paths answer; the first that fits counts. All others are answered everywhere. */
const ONLY_BELOW: [code: RegExp, path: RegExp][] = [
  [/^job\.no-/, /sandbox/],
  [/^job\.(not-found|state-conflict)/, /\{jid\}/],
  [/^idempotency\./, /^\/jobs$/],
  [/^job\./, /^\/jobs/],
  [/^catalogue\.directory-/, /\/directory/],
  [/^catalogue\.file-/, /\/file\//],
  [/^catalogue\.field-/, /metadata|search/],
  [/^catalogue\.not-empty/, /\/directory\/\{directory\}$/],
  [/^catalogue\.metadata-/, /metadata/],
  [/^catalogue\./, /^\/filecatalogue/],
  [/^storage\./, /^\/filecatalogue\/file\//],
  [/^webhook\.delivery-/, /\/\{delivery\}/],
  [/^webhook\.not-/, /^\/webhooks\/\{id\}/],
  [/^webhook\.disabled/, /\/(test|replay)$/],
  [/^webhook\./, /^\/webhooks$/],
  [/^auth\.(certificate|client)-/, /^\/oauth2/],
  [/^user\.exists/, /^\/admin\/users$/],
  [/^user\./, /^\/admin\/.*\{user\}/],
  [/^group\.exists/, /^\/admin\/groups$/],
  [/^group\.no-/, /^\/admin\/.*\{user\}/],
  [/^group\.last-/, /^\/admin\/(users|groups)\/\{/],
  [/^group\./, /^\/admin\/groups\/\{group\}/],
  [/^site\.exists/, /^\/admin\/sites$/],
  [/^site\.secret-/, /^$/], // secrets are administered beside the service only
  [/^site\./, /^\/admin\/sites\/\{site\}/],
  [/^worker\.not-/, /^\/admin\/workers\/\{worker\}/],
  [/^worker\./, /^$/], // between the service and its workers, not in the document
  [/^registry\./, /^\/admin\/(users|groups|sites)/],
  [/^client\.not-/, /^\/admin\/applications\/\{application\}$/],
  [/^client\./, /^\/admin\/applications$/],
  [/^route\./, /^$/], // paths that do not exist
];

/** Codes that only operations with a token answer. */
const OF_TOKENS = /^auth\.(token-|insufficient-scope)/;
/** They answer a token that is shown by somebody else than its holder. */
const INSPECTIONS = /^\/oauth2\/(introspect|revoke)$/;
/** Codes that they do not answer. */
const OF_OTHERS = /^auth\.(certificate|client)-/;

/** Codes that say more than the general ones; they come first. */
const SPECIAL =
  /^(job|idempotency|catalogue|storage|webhook|user|group|registry|site|worker|client)\./;

/** What the errors of an operation follow from. */
export interface OperationNature {
  path: string;
  isBearer: boolean;
  isCertificate: boolean;
  hasInput: boolean;
  hasBody: boolean;
  /** Errors of RFC 6749 instead of plain problems. */
  isOAuth: boolean;
  isProbe: boolean;
}

/** Shapes of error answers, by name. */
export const ERROR_SCHEMAS: Record<string, OpenApiSchema> = {
  Violation: {
    description: 'What is wrong with one field',
    type: 'object',
    required: ['field', 'problem'],
    properties: {
      field: { type: 'string', example: 'maxJobs' },
      problem: { type: 'string', example: 'is not a whole number' },
      instead: { type: 'string', description: 'What works instead of what is not offered' },
    },
  },
  ProblemCode: {
    description: 'A code of the closed list of errors',
    type: 'string',
    enum: Object.keys(PROBLEM_CODES),
  },
  Problem: {
    description: 'An error (RFC 9457)',
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'code', 'instance'],
    properties: {
      type: { type: 'string', example: 'urn:gridgate:problem:request.invalid' },
      title: { type: 'string', example: PROBLEM_CODES['request.invalid'].title },
      status: { type: 'integer', example: 400 },
      detail: { type: 'string', description: 'What to do about it' },
      code: { $ref: '#/components/schemas/ProblemCode' },
      instance: { type: 'string', description: 'Names the request, as `X-Request-Id` does' },
      violations: { type: 'array', items: { $ref: '#/components/schemas/Violation' } },
    },
    additionalProperties: true,
  },
  OAuthError: {
    description: 'An error of the authorization server (RFC 6749 §5.2)',
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    type: 'object',
    required: ['error', 'error_description'],
    properties: {
      error: { type: 'string', example: 'invalid_request' },
      error_description: { type: 'string', example: 'group is required' },
    },
  },
};

/** Statuses that an operation may answer beside those that it names itself. */
export function standardErrors(nature: OperationNature): Record<string, string> {
  const errors: Record<string, string> = {};
  if (nature.path.startsWith('/.well-known/')) errors['429'] = 'Too many requests; see Retry-After';
  if (nature.isProbe) return { ...errors, '503': 'The service is not available' };
  if (nature.hasInput || nature.isBearer) errors['400'] = 'The request is not valid';
  if (nature.isBearer) {
    errors['401'] = 'No access token, or one that is not valid';
    errors['403'] = 'The token lacks the scope, or this is not allowed';
  }
  if (nature.isCertificate) errors['401'] = 'No client certificate of a known user';
  if (nature.hasBody) {
    errors['413'] = 'The body is too large';
    errors['415'] = 'The content type is not supported';
  }
  errors['429'] = 'Too many requests; see Retry-After';
  errors['503'] = 'Temporarily unavailable; see Retry-After';
  return errors;
}

/** An error answer with its shape, the codes that it may carry, and an example. */
export function errorAnswer(
  status: string,
  description: string,
  nature: OperationNature,
): { description: string; content: Record<string, { schema: OpenApiSchema; example?: unknown }> } {
  const codes = codesOf(Number(status), nature);
  const list = codes.map((code) => `\`${code}\``).join(', ');
  const name = nature.isOAuth ? 'OAuthError' : 'Problem';
  const retry = status === '429' || status === '503';
  return {
    description: codes.length === 0 ? description : `${description}. Codes: ${list}`,
    ...(retry && { headers: { 'Retry-After': RETRY_AFTER } }),
    ...(status === '401' && { headers: { 'WWW-Authenticate': challenge(nature) } }),
    content: {
      [nature.isOAuth ? OAUTH_TYPE : PROBLEM_TYPE]: {
        schema: { $ref: `#/components/schemas/${name}` },
        ...(codes[0] && { example: exampleOf(codes[0], description, nature.isOAuth) }),
      },
    },
  };
}

const RETRY_AFTER = { description: 'Seconds to wait', required: true, schema: { type: 'integer' } };

/** Tokens are always asked for; certificates have no scheme, and applications hear of Basic when they tried it. */
function challenge({ isBearer }: OperationNature): Record<string, unknown> {
  const schema = { type: 'string' };
  return isBearer
    ? { description: 'RFC 6750 §3; `resource_metadata`: RFC 9728 §5.1', required: true, schema }
    : { description: 'After Basic credentials (RFC 6749 §5.2)', schema };
}

/** The codes with this status that the operation may answer, those of its own area first. */
function codesOf(status: number, { path, hasBody, isBearer }: OperationNature): ProblemCode[] {
  const codes = (Object.keys(PROBLEM_CODES) as ProblemCode[]).filter((code) => {
    if (PROBLEM_CODES[code].status !== status) return false;
    if (code === 'request.malformed-body' && !hasBody) return false;
    if (code === 'auth.token-invalid' && INSPECTIONS.test(path)) return true;
    if ((isBearer ? OF_OTHERS : OF_TOKENS).test(code)) return false;
    return areaOf(code)?.test(path) ?? true;
  });
  const isLast = (code: ProblemCode): boolean => !isBearer && OF_TOKENS.test(code);
  const rank = (code: ProblemCode): number => (SPECIAL.test(code) ? 0 : isLast(code) ? 2 : 1);
  return codes.sort((a, b) => rank(a) - rank(b));
}

function areaOf(code: ProblemCode): RegExp | undefined {
  return ONLY_BELOW.find(([beginning]) => beginning.test(code))?.[1];
}

/** The error below /oauth2 where it does not follow from the status: that of the challenge. */
const OF_CHALLENGES: Partial<Record<ProblemCode, string>> = {
  'auth.token-missing': 'invalid_request',
  'auth.token-invalid': 'invalid_token',
  'auth.insufficient-scope': 'insufficient_scope',
};

function exampleOf(code: ProblemCode, detail: string, isOAuth: boolean): object {
  const { status, title } = PROBLEM_CODES[code];
  const type = `urn:gridgate:problem:${code}`;
  const instance = 'urn:gridgate:request:3kTMd0mVr2c';
  const problem = { type, title, status, detail, code, instance };
  if (!isOAuth) return problem;
  const error = OF_CHALLENGES[code] ?? oauthErrorOf(status);
  return { error, error_description: detail, ...problem };
}

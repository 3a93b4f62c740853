export { Slices } from './slices.js';
export { Problem, type ProblemOptions, type Violation } from './problem.js';
export { PROBLEM_CODES, type ProblemCode } from './problem-codes.js';
export { OAuthProblem, type OAuthErrorCode } from './oauth-problem.js';
export { S_OK, S_ERROR, type Result, type SuccessResult, type ErrorResult } from './result.js';
export { type Clock, systemClock, sleep } from './clock.js';
export { randomToken, randomId, sha256, constantTimeEqual } from './random.js';
export { decodeBase64UrlText, encodeBase64UrlText } from './base64url.js';
export { stringifyJson, parseJson, isJsonObject, type JsonValue, type JsonObject } from './json.js';

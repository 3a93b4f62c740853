import { PROBLEM_CODES } from '#src/kernel/index.js';
import { challenged, invalidRequest, tokenMissing } from './challenges.js';

const TEXT = 'This does not do';

describe('a challenge', () => {
  it.each([
    [challenged('Bearer', 'invalid_token', TEXT), 401, 'auth.token-invalid'],
    [challenged('DPoP', 'invalid_token', TEXT, { algs: 'ES256' }), 401, 'auth.token-invalid'],
    [challenged('DPoP', 'invalid_dpop_proof', TEXT), 401, 'auth.token-invalid'],
    [challenged('DPoP', 'use_dpop_nonce', TEXT), 401, 'auth.token-invalid'],
    [
      challenged('Bearer', 'insufficient_scope', TEXT, { scope: 'a' }),
      403,
      'auth.insufficient-scope',
    ],
    [invalidRequest('auth.token-ambiguous', TEXT), 400, 'auth.token-ambiguous'],
  ] as const)('names the error of the body', (problem, status, code) => {
    expect([problem.status, problem.code, problem.detail]).toEqual([status, code, TEXT]);
    expect(problem.title).toBe(PROBLEM_CODES[code].title);
    expect(problem.headers['WWW-Authenticate']).toContain(
      ` realm="gridgate", error="${problem.error}", error_description="${TEXT}"`,
    );
  });

  it('ends with its own parameters', () => {
    const { headers } = challenged('DPoP', 'invalid_token', TEXT, { algs: 'ES256 PS256' });
    expect(headers).toEqual({
      'WWW-Authenticate':
        `DPoP realm="gridgate", error="invalid_token", error_description="${TEXT}", ` +
        'algs="ES256 PS256"',
    });
  });

  it('names no error where there is no token', () => {
    const { status, code, error, headers } = tokenMissing(TEXT);
    expect([status, code, error, headers]).toEqual([
      ...[401, 'auth.token-missing', 'invalid_request'],
      { 'WWW-Authenticate': 'Bearer realm="gridgate"' },
    ]);
  });
});

import { Readable } from 'node:stream';
import { OAuthProblem, Problem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/platform/index.js';
import { OAuthParameters } from './oauth-parameters.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function request(search: string, body?: string): HttpRequest {
  const content = body === undefined ? [] : [Buffer.from(body)];
  const length = String(Buffer.byteLength(body ?? ''));
  const headers = body === undefined ? {} : { ...FORM, 'content-length': length };
  return Object.assign(Readable.from(content), {
    url: `/oauth2/token${search}`,
    headers,
  }) as unknown as HttpRequest;
}

function refusalOf(error: unknown): unknown {
  if (error instanceof OAuthProblem) return [error.status, error.error, error.detail];
  throw error;
}

function refusal(attempt: () => unknown): unknown {
  try {
    return attempt();
  } catch (error) {
    return refusalOf(error);
  }
}

const twice = [400, 'invalid_request', 'The parameter a is given more than once'];

describe('parameters of OAuth', () => {
  it('are absent when they are empty', () => {
    const parameters = OAuthParameters.from([
      ['a', '1'],
      ['b', ''],
    ]);
    expect(['a', 'b', 'c'].map((name) => parameters.optional(name))).toEqual([
      '1',
      undefined,
      undefined,
    ]);
    expect(parameters.required('a')).toBe('1');
    for (const name of ['b', 'c']) {
      expect(refusal(() => parameters.required(name))).toEqual([
        400,
        'invalid_request',
        `The parameter ${name} is missing`,
      ]);
    }
  });

  it('come from the query', () => {
    const parameters = OAuthParameters.ofQuery(request('?a=1&b=2'));
    expect([parameters.optional('a'), parameters.optional('b')]).toEqual(['1', '2']);
    expect(OAuthParameters.ofQuery(request('?a=1', 'b=2')).optional('b')).toBeUndefined();
    expect(refusal(() => OAuthParameters.ofQuery(request('?a=1&a=1')))).toEqual(twice);
    expect(refusal(() => OAuthParameters.ofQuery(request('?a=&a=')))).toEqual(twice);
  });

  it('come from query and form together, each once', async () => {
    const parameters = await OAuthParameters.of(request('?a=1', 'b=2&c=x+y'));
    expect(['a', 'b', 'c'].map((name) => parameters.optional(name))).toEqual(['1', '2', 'x y']);
    expect((await OAuthParameters.of(request('?a=1'))).optional('a')).toBe('1');
    for (const [search, body] of [
      ['?a=1', 'a=1'],
      ['', 'a=1&a=2'],
      ['?a=1&a=2', undefined],
    ] as const) {
      const outcome = await OAuthParameters.of(request(search, body)).catch(refusalOf);
      expect(outcome).toEqual(twice);
    }
  });

  it('fill a form of 256 KiB at most', async () => {
    const form = (bytes: number) => request('', `a=${'x'.repeat(bytes - 2)}`);
    const largest = await OAuthParameters.of(form(262_144));
    expect(largest.required('a')).toHaveLength(262_142);
    await expect(OAuthParameters.of(form(262_145))).rejects.toMatchObject({
      constructor: Problem,
      code: 'request.too-large',
      status: 413,
    });
  });
});

import { Readable } from 'node:stream';
import {
  ConnectionError,
  ConnectTimeout,
  HTTPError,
  JSONDecodeError,
  ProxyError,
  ReadTimeout,
  RequestException,
  SSLError,
  StreamConsumedError,
  Timeout,
  TooManyRedirects,
} from './errors.js';
import { PreparedRequest, Response } from './messages.js';
import type { ScriptedAnswer } from '../testing/scripted-adapter.js';

describe('Response', () => {
  const request = new PreparedRequest({ method: 'GET', url: 'http://h.test/' });
  const made = (init: ScriptedAnswer): Response =>
    new Response({ status_code: 200, url: request.url, request, ...init });

  it('has status, reason, headers, content and text', () => {
    const response = made({
      status_code: 404,
      headers: { 'Content-Type': 'text/plain; charset=latin1' },
      content: Buffer.from([0xe9]),
    });
    expect([response.ok, response.reason, response.headers.get('content-type')]).toEqual([
      false,
      'Not Found',
      'text/plain; charset=latin1',
    ]);
    expect(response.text).toBe('é');
    response.encoding = 'utf-8';
    expect(response.text).toBe('\ufffd');
  });

  it('parses JSON with all digits', () => {
    expect(made({ content: '{"a": 12345678901234567890}' }).json()).toEqual({
      a: 12345678901234567890n,
    });
  });

  it('never shows the body in a JSON error', () => {
    const response = made({ content: '<html>secret</html>' });
    let failure: unknown;
    try {
      response.json();
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(JSONDecodeError);
    expect(failure).toBeInstanceOf(RequestException);
    expect(`${String(failure)} ${String((failure as Error).cause)}`).not.toContain('secret');
  });

  it.each([
    [200, undefined],
    [399, undefined],
    [404, '404 client error: Not Found'],
    [503, '503 server error: Service Unavailable'],
    [600, undefined],
  ])('raise_for_status of %i', (status_code, message) => {
    const raise = (): void => made({ status_code }).raise_for_status();
    if (message === undefined) expect(raise).not.toThrow();
    else expect(raise).toThrow(new HTTPError(message));
  });

  it('streams its body once, and has no content before it is read', async () => {
    const body = (): Readable => Readable.from([Buffer.from('a'), Buffer.from('b')]);
    const response = made({ body: body() });
    expect(() => response.content).toThrow(StreamConsumedError);
    expect((await response.read()).toString()).toBe('ab');
    expect(response.text).toBe('ab');
    const closed = made({ body: body() });
    closed.close();
    await expect(closed.read()).rejects.toThrow(StreamConsumedError);
  });
});

describe('errors', () => {
  it.each([
    [new ConnectTimeout(''), [ConnectTimeout, Timeout, ConnectionError], [ReadTimeout]],
    [new ReadTimeout(''), [ReadTimeout, Timeout], [ConnectionError, ConnectTimeout]],
    [new Timeout(''), [Timeout], [ReadTimeout, ConnectionError]],
    [new ProxyError(''), [ConnectionError], [Timeout, SSLError]],
    [new SSLError(''), [ConnectionError], [Timeout, ProxyError]],
    [new TooManyRedirects(''), [], [ConnectionError, Timeout]],
  ])('%p', (error, yes, no) => {
    for (const kind of [...yes, RequestException, Error]) expect(error).toBeInstanceOf(kind);
    for (const kind of no) expect(error).not.toBeInstanceOf(kind);
  });

  it('do not drag the request along into logs', () => {
    const request = new PreparedRequest({ method: 'GET', url: 'http://h.test/?access_token=t' });
    const error = new HTTPError('message', { request });
    expect(error.request).toBe(request);
    expect(Object.keys(error)).toEqual(['name']);
  });
});

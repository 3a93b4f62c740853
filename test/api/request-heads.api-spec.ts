import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { connect } from 'node:tls';
import { startGrid, type Grid } from '../support/testbed.js';

interface RawAnswer {
  status: number;
  body: Record<string, unknown>;
}

describe('the head of a request', () => {
  let grid: Grid;
  let token: string;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api' } });
    token = await grid.token('alice', 'grid_user');
  });
  afterAll(() => grid?.remove());

  /** Answers of requests that are sent over one connection, one after the other. */
  async function answersOf(requests: [line: string, ...headers: string[]][]): Promise<RawAnswer[]> {
    const port = Number(new URL(grid.url).port);
    const socket = connect({ port, host: '127.0.0.1', ca: grid.ca });
    await once(socket, 'secureConnect');
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    const heads = requests.map(([line, ...headers], index) => {
      const last = index === requests.length - 1 ? ['Connection: close'] : [];
      return [`${line} HTTP/1.1`, ...headers, ...last, '', ''].join('\r\n');
    });
    socket.write(heads.join(''));
    await once(socket, 'close');
    const parts = text.split(/(?=HTTP\/1\.1 \d{3} )/).filter((part) => part !== '');
    return parts.map((part) => {
      const [head = '', body = ''] = part.split('\r\n\r\n');
      return { status: Number(head.slice(9, 12)), body: body === '' ? {} : JSON.parse(body) };
    });
  }
  const HOST = 'Host: localhost';
  const refusal = (status: number, code: string, detail: string) => ({
    status,
    body: expect.objectContaining({ status, code, detail }),
  });

  it.each([
    ['Host', 'GET /health/live', [HOST, 'host: other.example']],
    ['Host', 'GET /nothing/here', [HOST, HOST]],
    ['Host', 'GET /docs/', [HOST, HOST]],
    ['Authorization', 'GET /jobs', [HOST, 'authorization: Bearer a', 'Authorization: Bearer b']],
    [
      'Content-Type',
      'POST /jobs',
      [HOST, 'Content-Type: a/b', 'Content-Type: a/c', 'Content-Length: 0'],
    ],
    ['Origin', 'GET /jobs', [HOST, 'Origin: https://a.example', 'Origin: https://b.example']],
  ])(
    'is 400 with two headers %s at %s, and the connection goes on',
    async (name, line, headers) => {
      const detail = expect.stringMatching(new RegExp(`^Send the header ${name} once$`, 'i'));
      const [first, second, third] = await answersOf([
        [line, ...headers],
        ['GET /health/live', HOST],
        [line, ...headers],
      ]);
      expect(first).toEqual(refusal(400, 'request.invalid', detail as string));
      expect(second).toEqual({ status: 200, body: { status: 'live' } });
      expect(third).toEqual(first && { ...first, body: expect.objectContaining({ status: 400 }) });
    },
  );

  it('is 400 with two lengths', async () => {
    const lengths = ['Content-Length: 0', 'Content-Length: 1'];
    const [answer] = await answersOf([['POST /jobs', HOST, ...lengths]]);
    expect(answer).toEqual(refusal(400, 'request.invalid', 'This is not a valid HTTP request'));
  });

  it.each(['GET /health/live', 'GET /jobs', 'POST /oauth2/token', 'GET /nothing/here'])(
    'is 417 with an expectation that nobody can meet, at %s',
    async (line) => {
      const answers = await answersOf([
        [line, HOST, 'Content-Length: 0', 'Expect: 200-ok'],
        ['GET /health/live', HOST],
      ]);
      const detail =
        'The only expectation that can be met is 100-continue: leave the header Expect out';
      expect(answers).toEqual([
        refusal(417, 'request.expectation-failed', detail),
        { status: 200, body: { status: 'live' } },
      ]);
    },
  );

  it('takes 100-continue', async () => {
    const [continued, answer] = await answersOf([
      ['GET /health/live', HOST, 'Expect: 100-Continue'],
    ]);
    expect([continued!.status, answer]).toEqual([100, { status: 200, body: { status: 'live' } }]);
  });

  it.each([
    ['/filecatalogue/bulk', 'application/x-ndjson'],
    ['/filecatalogue/lookup', 'application/json'],
    ['/filecatalogue/lookup', 'application/x-ndjson'],
    ['/jobs', 'application/json'],
    ['/jobs', 'application/x-ndjson'],
    ['/webhooks', 'application/json'],
  ])('is 415 at POST %s with %s in a content encoding', async (path, type) => {
    const body = gzipSync('{"kind":"file","path":"/vo/a/f1","size":10}\n');
    const headers = { 'content-type': type, 'content-encoding': 'gzip' };
    const answer = await grid.bearer(token).post(path, { body, headers });
    const expected = { status: 415, detail: 'Content encoding gzip is not supported' };
    expect([path, answer.status, answer.body]).toEqual([
      path,
      415,
      expect.objectContaining(expected),
    ]);
  });
});

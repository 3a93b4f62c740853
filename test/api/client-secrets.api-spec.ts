import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { addApplication } from '../support/applications.js';
import { AuditTrail } from '../support/audit-trail.js';
import { FullLog } from '../support/full-log.js';
import { eventually, startGrid, type Answer, type Grid } from '../support/testbed.js';

const DETAIL = 'Too many wrong secrets of this application from your address';
const ENDPOINTS = ['token', 'introspect', 'revoke', 'par', 'device_authorization'] as const;

describe('secrets of applications', () => {
  let grid: Grid;
  let trail: AuditTrail;
  beforeAll(async () => {
    grid = await startGrid({
      env: { GRID_LOG_LEVEL: 'info', GRID_TRUSTED_PROXIES: '127.0.0.1,::1', GRID_RATE_TOKEN: '3' },
    });
    trail = new AuditTrail(grid);
    const hash = createHash('sha256').update('right').digest('base64url');
    for (const id of ['guessed', 'neighbour']) {
      await addApplication(grid, { id, confidential: true });
      await grid.sql('update registry_application set secret_hash = $1 where id = $2', [hash, id]);
    }
  });
  afterAll(async () => grid?.remove());

  const junk = {
    ...{ grant_type: 'refresh_token', refresh_token: 'x', token: 'x', scope: 'jobs:read' },
    ...{ response_type: 'code', redirect_uri: 'https://app.example/back' },
    ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
  };
  const ask = (endpoint: string, address: string, form: Record<string, string>): Promise<Answer> =>
    grid.anonymous.post(`/oauth2/${endpoint}`, {
      form: { ...junk, ...form },
      headers: { 'x-forwarded-for': address },
    });
  const of = (client_id: string, client_secret: string) => ({ client_id, client_secret });

  it('are named with the application in the audit trail when they are wrong', async () => {
    const wrong = await ask('token', '198.51.100.1', of('guessed', 'wrong'));
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
    expect(await trail.lineOf(wrong, 'token.issued', '198.51.100.1')).toEqual({
      ...{ outcome: 'refused', code: 'auth.client-unknown', grantType: 'refresh_token' },
      claimedClient: 'guessed',
    });
    const unknown = await ask('token', '198.51.100.1', of('nobody', 'wrong'));
    expect(await trail.lineOf(unknown, 'token.issued', '198.51.100.1')).toEqual({
      ...{ outcome: 'refused', code: 'auth.client-unknown', grantType: 'refresh_token' },
    });
  });

  it.each(ENDPOINTS)('are not guessed at /oauth2/%s: soon none is looked at', async (endpoint) => {
    const guesser = `198.51.100.${10 + ENDPOINTS.indexOf(endpoint)}`;
    const refusal = await eventually(async () => {
      const words = [...Array.from({ length: 9 }, (_, n) => `wrong ${n}`), 'right'];
      const asked = words.map((word) => ask('introspect', guesser, of('guessed', word)));
      const [elsewhere, neighbour] = await Promise.all([
        ask('introspect', '198.51.100.3', of('guessed', 'right')),
        ask('introspect', guesser, of('neighbour', 'right')),
      ]);
      expect([elsewhere.status, elsewhere.body]).toEqual([200, { active: false }]);
      expect([neighbour.status, neighbour.body]).toEqual([200, { active: false }]);
      const answers = await Promise.all(asked);
      expect(answers.slice(0, 9).map(({ status }) => [401, 429].includes(status))).toEqual(
        Array(9).fill(true),
      );
      const right = await ask(endpoint, guesser, of('guessed', 'right'));
      return right.body.detail === DETAIL && right;
    }, 'the refusal of a right secret');
    expect([refusal.status, refusal.headers['retry-after'], refusal.body]).toEqual([
      ...[429, '1'],
      expect.objectContaining({
        ...{ status: 429, code: 'rate.limited', error: 'temporarily_unavailable' },
        error_description: DETAIL,
      }),
    ]);
    const after = await eventually(async () => {
      const answer = await ask('introspect', guesser, of('guessed', 'right'));
      return answer.status === 200 && answer;
    }, 'the end of the second');
    expect(after.body).toEqual({ active: false });
  });
});

/** Ends the connection in the middle of the body. */
async function hangUp(grid: Grid): Promise<void> {
  const { hostname: host, port } = new URL(grid.url);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const head = ['POST /oauth2/introspect HTTP/1.1', `Host: ${host}`, 'Content-Length: 100'];
  const form = 'Content-Type: application/x-www-form-urlencoded';
  socket.write(`${[...head, form].join('\r\n')}\r\n\r\ntoken=x&client`, () => socket.destroy());
  await once(socket, 'close');
}

describe('a client that hangs up', () => {
  it('leaves the line of its request and no warning', async () => {
    const grid = await startGrid({ env: { GRID_LOG_LEVEL: 'debug' } });
    try {
      const log = new FullLog(grid);
      await hangUp(grid);
      const line = await log.line((one) => one['status'] === 499);
      expect(line).toMatchObject({ level: 'info', path: '/oauth2/introspect' });
      const cut = await log.line(
        (one) => one['requestId'] === line['requestId'] && one['code'] !== undefined,
      );
      expect(cut).toMatchObject({ level: 'debug', code: 'request.malformed-body' });
    } finally {
      await grid.remove();
    }
  });
});

import { createHash } from 'node:crypto';
import { addApplication } from '../support/applications.js';
import { AuditTrail } from '../support/audit-trail.js';
import { startGrid, type Answer, type Grid } from '../support/testbed.js';

const GUESSES = 100;
const ENDPOINTS = ['token', 'introspect', 'revoke', 'par', 'device_authorization'] as const;

describe('secrets of applications', () => {
  let grid: Grid;
  let trail: AuditTrail;
  beforeAll(async () => {
    grid = await startGrid({
      env: { GRID_LOG_LEVEL: 'info', GRID_TRUSTED_PROXIES: '127.0.0.1,::1' },
    });
    trail = new AuditTrail(grid);
    const hash = createHash('sha256').update('right').digest('base64url');
    for (const id of ['guessed', 'neighbour']) {
      await addApplication(grid, { id, confidential: true });
      await grid.sql('update registry_application set secret_hash = $1 where id = $2', [hash, id]);
    }
  }, 90_000);
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

  it('are not guessed: after a hundred wrong ones of an address none is looked at', async () => {
    const guesser = '198.51.100.2';
    const before = await ask('introspect', guesser, of('guessed', 'right'));
    expect([before.status, before.body]).toEqual([200, { active: false }]);
    for (let n = 0; n < GUESSES; n += 10) {
      const words = Array.from({ length: 10 }, (_, k) => of('guessed', `wrong ${n + k}`));
      const answers = await Promise.all(words.map((word) => ask('introspect', guesser, word)));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(401));
    }
    for (const endpoint of ENDPOINTS) {
      for (const word of ['right', 'wrong']) {
        const { status, body, headers } = await ask(endpoint, guesser, of('guessed', word));
        expect([endpoint, status, body]).toEqual([
          ...[endpoint, 429],
          expect.objectContaining({
            ...{ status: 429, code: 'rate.limited', error: 'temporarily_unavailable' },
            error_description: 'Too many requests; try again later',
          }),
        ]);
        expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
        expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
      }
    }
    const elsewhere = await ask('introspect', '198.51.100.3', of('guessed', 'right'));
    expect([elsewhere.status, elsewhere.body]).toEqual([200, { active: false }]);
    const neighbour = await ask('introspect', guesser, of('neighbour', 'right'));
    expect([neighbour.status, neighbour.body]).toEqual([200, { active: false }]);
  });
});

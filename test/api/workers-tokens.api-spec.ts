import { decodeJwt, decodeProtectedHeader } from 'jose';
import { AuditTrail } from '../support/audit-trail.js';
import { ACCESS_TOKEN } from '../support/grid-tokens.js';
import { portalTokens } from '../support/portal.js';
import { TokenForge } from '../support/tenants/tokens.js';
import {
  addSiteSecret,
  addWorkerSite,
  badProof,
  noWorker,
  refused,
  registered,
  renewed,
  seen,
  SITE,
  TestWorker,
  UNKNOWN,
} from '../support/test-worker.js';
import { startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;
let trail: AuditTrail;

beforeAll(async () => {
  grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'info' } });
  trail = new AuditTrail(grid);
  await addWorkerSite(grid, SITE);
});
afterAll(() => grid?.remove());

const badToken = (): unknown[] =>
  badProof(
    grid,
    'invalid_token',
    'The token is none of a worker, has expired, or is bound to another key',
  );

describe('POST /workers/<id>/token', () => {
  it('gives a new token to the key of the worker, also when its secret is revoked', async () => {
    const worker = await TestWorker.of(grid);
    const { id, secret } = await addSiteSecret(grid, SITE);
    await worker.register({ site: SITE, secret });
    await grid.sql('update site_secret set revoked_at = now() where id = $1', [id]);
    const answer = await worker.renew();
    expect(seen(answer)).toEqual([200, renewed]);
    expect(decodeProtectedHeader(answer.body.token).typ).toBe('worker+jwt');
    expect(decodeJwt(answer.body.token)).toEqual({
      iss: grid.url,
      sub: worker.id,
      aud: `${grid.url}/workers`,
      exp: expect.any(Number),
      iat: expect.any(Number),
      jti: expect.any(String),
      cnf: { jkt: worker.key.thumbprint },
    });
    worker.token = answer.body.token;
    expect(seen(await worker.call())).toEqual([204, '']);
  });

  it('knows no worker of another key, and none that is unknown or gone', async () => {
    const worker = await TestWorker.registered(grid, SITE);
    const stranger = await TestWorker.of(grid);
    expect(seen(await stranger.renew(worker.id))).toEqual(noWorker(worker.id));
    for (const id of [UNKNOWN, 'x', "'--"]) {
      const path = encodeURIComponent(id);
      expect(seen(await stranger.renew(path))).toEqual(noWorker(id));
    }
    expect((await worker.call()).status).toBe(204);
    expect(seen(await worker.renew())).toEqual(noWorker(worker.id));
  });

  it('refuses a request without a proof', async () => {
    const worker = await TestWorker.registered(grid, SITE);
    const { id, token } = worker;
    const headers = { authorization: `Bearer ${token}` };
    const answer = await grid.anonymous.post(`/workers/${id}/token`, { headers });
    expect(seen(answer)).toEqual(badProof(grid, 'invalid_dpop_proof', 'Send a DPoP proof'));
  });
});

describe('DELETE /workers/<id>', () => {
  it('ends the worker at once; its key may come back with the secret, as another worker', async () => {
    const { secret } = await addSiteSecret(grid, SITE);
    const worker = await TestWorker.of(grid);
    await worker.register({ site: SITE, secret });
    const { id, token } = worker;
    const bye = await worker.call();
    expect(seen(bye)).toEqual([204, '']);
    expect(seen(await worker.call('DELETE', `/workers/${id}`, token))).toEqual(noWorker(id));
    const line = { worker: id, site: SITE, name: 'node7', way: 'itself' };
    expect(await trail.lineOf(bye, 'worker.removed')).toEqual({
      ...{ outcome: 'done', ...line },
    });
    expect(seen(await worker.register({ site: SITE, secret }))).toEqual([201, registered]);
    expect(worker.id).not.toBe(id);
    expect((await worker.call('DELETE', `/workers/${id}`)).status).toBe(404);
    expect((await worker.call()).status).toBe(204);
  });

  it('is for the worker itself: others have no such worker', async () => {
    const [one, two] = [
      await TestWorker.registered(grid, SITE),
      await TestWorker.registered(grid, SITE),
    ];
    expect(seen(await one.call('DELETE', `/workers/${two.id}`))).toEqual(noWorker(two.id));
    expect(seen(await one.call('DELETE', `/workers/${UNKNOWN}`))).toEqual(noWorker(UNKNOWN));
    expect((await two.call()).status).toBe(204);
  });

  it('takes the token with a proof of its key, and no other way', async () => {
    const worker = await TestWorker.registered(grid, SITE);
    const { id, token } = worker;
    const path = `/workers/${id}`;
    const thief = await TestWorker.of(grid);
    await thief.renew(UNKNOWN);
    expect(seen(await thief.call('DELETE', path, token))).toEqual(badToken());
    const bearer = { authorization: `Bearer ${token}` };
    const missing = badProof(grid, 'invalid_token', 'Send the token of the worker');
    expect(seen(await grid.anonymous.delete(path, { headers: bearer }))).toEqual(missing);
    const query = { access_token: token };
    expect(seen(await grid.anonymous.delete(path, { query }))).toEqual(missing);
    const alone = { authorization: `DPoP ${token}` };
    expect(seen(await grid.anonymous.delete(path, { headers: alone }))).toEqual(
      badProof(grid, 'invalid_dpop_proof', 'Send a DPoP proof'),
    );
    const ofAnother = await worker.caller.proof('DELETE', path, 'another');
    const dpop = await worker.caller.proof('POST', path, token);
    expect(
      seen(await grid.anonymous.delete(path, { headers: { ...alone, dpop: ofAnother } })),
    ).toEqual(badProof(grid, 'invalid_dpop_proof', 'The DPoP proof is for another token (ath)'));
    expect(seen(await grid.anonymous.delete(path, { headers: { ...alone, dpop } }))).toEqual(
      badProof(grid, 'invalid_dpop_proof', 'The DPoP proof is for another method (htm)'),
    );
    expect((await worker.call()).status).toBe(204);
  });

  it('takes no token of another kind, whatever it says', async () => {
    const worker = await TestWorker.registered(grid, SITE);
    const forge = await TokenForge.of(grid);
    const { id: sub, key } = worker;
    const cnf = { jkt: key.thumbprint };
    const aud = `${grid.url}/workers`;
    const now = Math.floor(Date.now() / 1000);
    const typ = 'worker+jwt';
    const tokens = [
      await grid.token('alice', 'grid_user'),
      await grid.token('adam', 'grid_adm', 'Prod', 'admin'),
      (await portalTokens(grid, 'alice')).refresh_token,
      forge.token({ sub, cnf }),
      forge.token({ sub, cnf, aud }),
      forge.token({ sub, cnf }, { typ }),
      forge.token({ sub, cnf, aud, exp: now - 1 }, { typ }),
      forge.token({ sub, cnf, aud, exp: undefined }, { typ }),
      forge.token({ sub, aud, cnf: undefined }, { typ }),
      forge.token({ sub, aud, cnf: { 'x5t#S256': key.thumbprint } }, { typ }),
      forge.token({ sub, aud, cnf, iss: 'https://elsewhere.example' }, { typ }),
      'nonsense',
    ];
    for (const token of tokens) {
      expect(seen(await worker.call('DELETE', `/workers/${sub}`, token))).toEqual(badToken());
    }
    const good = forge.token({ sub, aud, cnf }, { typ });
    expect((await worker.call('DELETE', `/workers/${sub}`, good)).status).toBe(204);
  });
});

describe('the token of a worker', () => {
  it('opens nothing but what is its own', async () => {
    const worker = await TestWorker.registered(grid, SITE);
    const { token, caller } = worker;
    const unknown = 'The access token is unknown, expired or revoked';
    const bad = refused('auth.token-invalid', unknown);
    for (const [method, path] of [
      ['GET', '/jobs'],
      ['POST', '/jobs'],
      ['GET', '/filecatalogue/metadata'],
      ['GET', '/admin/workers'],
      ['DELETE', `/admin/workers/${worker.id}`],
      ['GET', '/webhooks'],
    ] as const) {
      const headers = { authorization: `Bearer ${token}` };
      expect(seen(await grid.anonymous.call(method, path, { headers })).slice(0, 2)).toEqual(bad);
      expect(seen(await caller.call(method, path, { token })).slice(0, 2)).toEqual(bad);
    }
    const headers = { authorization: `Bearer ${token}` };
    const asked = await grid.anonymous.post('/oauth2/introspect', { form: { token }, headers });
    expect(seen(asked)).toEqual([200, { active: false }]);
    const userinfo = await caller.call('GET', '/oauth2/userinfo', { token });
    expect([userinfo.status, userinfo.body.code]).toEqual([401, 'auth.token-invalid']);
  });

  it('is no subject of an exchange, and nothing to revoke', async () => {
    const { token } = await TestWorker.registered(grid, SITE);
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      client_id: 'demo-portal',
      subject_token: token,
      subject_token_type: ACCESS_TOKEN,
    };
    const exchanged = await grid.anonymous.post('/oauth2/token', { form });
    expect([exchanged.status, exchanged.body.error, exchanged.body.detail]).toEqual([
      ...[400, 'invalid_request', 'The subject_token is not valid here'],
    ]);
    const revoked = await grid.anonymous.post('/oauth2/revoke', {
      form: { token, client_id: 'demo-portal' },
    });
    expect(revoked.status).toBe(200);
  });
});

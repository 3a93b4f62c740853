import { addApplication } from '../support/applications.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const QUERY = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };

describe.each(['client-cert', 'x-ssl-client-cert', 'x-ssl-client-der'] as const)(
  'a certificate in the header %s of a trusted proxy',
  (form) => {
    let grid: Grid;
    beforeAll(async () => {
      grid = await startGrid({
        env: { GRID_TRUSTED_PROXIES: '127.0.0.0/8 ::1', GRID_CLIENT_CERT_HEADER: form },
      });
    });
    afterAll(async () => grid.remove());

    async function header(name: 'alice' | 'stranger'): Promise<Record<string, string>> {
      const { cert } = await grid.pair(name);
      const base64 = cert.replace(/-----[^-]+-----|\s/g, '');
      const values = {
        'client-cert': `:${base64}:`,
        'x-ssl-client-cert': encodeURIComponent(cert),
        'x-ssl-client-der': base64,
      };
      return { [form]: values[form] };
    }

    it('counts like one of the connection', async () => {
      const headers = await header('alice');
      const answer = await grid.anonymous.get('/oauth2/token', { query: QUERY, headers });
      expect([answer.status, answer.body.group]).toEqual([200, 'grid_user']);
    });

    it('binds the tokens of an application that proves itself by it', async () => {
      await addApplication(grid, {
        ...{ id: 'tls', authentication: 'tls_client_auth', scopes: ['jobs:read'] },
        ...{ subjectDn: '/DC=org/DC=grid/CN=stranger', group: 'grid_user' },
      });
      const form = { grant_type: 'client_credentials', client_id: 'tls' };
      const headers = await header('stranger');
      const { status, body } = await grid.anonymous.post('/oauth2/token', { form, headers });
      expect([status, body.scope]).toEqual([200, 'jobs:read']);
      const holder = grid.bearer(body.access_token);
      const thief = await header('alice');
      const outcomes = await Promise.all([
        holder.get('/jobs', { headers }),
        holder.get('/jobs', { headers: thief }),
        holder.get('/jobs'),
        grid.anonymous.post('/oauth2/token', { form, headers: thief }),
      ]);
      expect(outcomes.map((one) => one.status)).toEqual([200, 401, 401, 401]);
    });

    it('is checked here again', async () => {
      for (const headers of [await header('stranger'), { [form]: 'nonsense' }]) {
        const answer = await grid.anonymous.get('/oauth2/token', { query: QUERY, headers });
        expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
      }
    });

    it("never falls back to the proxy's own certificate", async () => {
      const proxy = await grid.certificate('alice');
      const answer = await proxy.get('/oauth2/token', { query: QUERY });
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    });

    it('writes the reason of a refusal into the log only', async () => {
      const headers = await header('stranger');
      const answer = await grid.anonymous.get('/oauth2/groups', { headers });
      expect(JSON.stringify(answer.body)).not.toContain('stranger');
      await eventually(
        () => Promise.resolve(grid.server.log().includes('CN=stranger')),
        'the reason',
      );
    });
  },
);

import { Agent, request } from 'undici';
import { BalancedGrid } from '../support/balanced-grid.js';
import { takenGroups, takenSuites } from '../support/handshakes.js';
import type { Balancer } from '../support/load-balancers.js';
import { describeWith, has, nginxHasStream } from '../support/missing.js';

const BALANCERS: Balancer[] = ['nginx', 'haproxy'];
const GROUPS = '/oauth2/groups';
const IGNORED = /^gridgate_forwarded_certificates_ignored_total/;

/** How each load balancer writes a certificate into the header that its instances read. */
function forgedHeader(balancer: Balancer, pem: string): Record<string, string> {
  if (balancer === 'nginx') return { 'x-ssl-client-cert': encodeURIComponent(pem) };
  const der = pem.replace(/-----[^-]+-----|\s/g, '');
  return { 'client-cert': `:${der}:` };
}

for (const balancer of BALANCERS) {
  const need = { met: has(balancer), name: balancer };
  const passing =
    balancer === 'nginx' ? { met: nginxHasStream(), name: 'nginx with stream' } : need;

  describeWith(need)(`${balancer} that ends TLS before two instances`, () => {
    let site: BalancedGrid;
    beforeAll(async () => {
      site = await BalancedGrid.start(balancer, 'terminate');
    });
    afterAll(() => site?.remove());

    it('forwards the certificate of the client', async () => {
      const alice = await site.grid.certificate('alice');
      const answer = await alice.get(GROUPS);
      expect([answer.status, answer.body]).toEqual([200, { groups: ['grid_user', 'grid_share'] }]);
    });

    it.each(['no certificate', 'a certificate that the registry does not know'])(
      'answers 401 with %s',
      async (which) => {
        const { anonymous } = site.grid;
        const client = which.startsWith('no') ? anonymous : await site.grid.certificate('stranger');
        const answer = await client.get(GROUPS);
        expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
      },
    );

    it('takes the suites and curves that the instances take, and no others', async () => {
      const port = Number(new URL(site.grid.url).port);
      expect(await takenSuites(port)).toEqual([
        'ECDHE-ECDSA-AES128-GCM-SHA256',
        'ECDHE-ECDSA-AES256-GCM-SHA384',
      ]);
      expect(await takenGroups(port)).toEqual(['X25519', 'P-256', 'P-384']);
    });

    it('drops a certificate header that a client sends', async () => {
      const { cert } = await site.grid.pair('alice');
      const headers = { ...forgedHeader('nginx', cert), ...forgedHeader('haproxy', cert) };
      const forged = await site.grid.anonymous.get(GROUPS, { headers });
      expect([forged.status, forged.body.error]).toEqual([401, 'invalid_client']);
      const bob = await site.grid.certificate('bob');
      const mixed = await bob.get('/oauth2/token', {
        headers,
        query: { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' },
      });
      expect(mixed.status).toBe(200);
      expect(subjectOf(mixed.body.access_token as string)).toBe('bob');
    });

    it('has instances that ignore and count a certificate header from any other address', async () => {
      const [instance] = site.instances;
      const { cert } = await site.grid.pair('alice');
      const before = await site.metric(instance, IGNORED);
      // 127.0.0.2 is another address of this machine, and no trusted proxy.
      const elsewhere = new Agent({ localAddress: '127.0.0.2' });
      try {
        const headers = forgedHeader(balancer, cert);
        const answer = await request(`${instance.direct}${GROUPS}`, {
          headers,
          dispatcher: elsewhere,
        });
        const body = (await answer.body.json()) as { error: string };
        expect([answer.statusCode, body.error]).toEqual([401, 'invalid_client']);
      } finally {
        await elsewhere.destroy();
      }
      expect(await site.metric(instance, IGNORED)).toBe(before + 1);
    });

    it('spreads requests over both, and a token of one is good on the other', async () => {
      const alice = await site.grid.as('alice');
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => alice.get('/filecatalogue/metadata')),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const served = /^gridgate_http_requests_total.*filecatalogue\/metadata.*status="200"/;
      for (const instance of site.instances) {
        expect(await site.metric(instance, served)).toBeGreaterThan(0);
      }
    });

    it.each([
      '/metrics',
      '/metrics?x=1',
      '/metrics/',
      '/METRICS',
      '/%6detrics',
      '/metrics%2F',
      '//metrics',
      '/metrics;x',
      '/./metrics',
      '/jobs/../metrics',
    ])('does not show the metrics of the instances as %s', async (path) => {
      const answer = await site.grid.anonymous.get(path);
      expect([answer.status, String(answer.body).includes('gridgate_')]).toEqual([404, false]);
    });
  });

  describeWith(passing)(`${balancer} that passes TLS through to two instances`, () => {
    let site: BalancedGrid;
    beforeAll(async () => {
      site = await BalancedGrid.start(balancer, 'passthrough');
    });
    afterAll(() => site?.remove());

    it('lets the instances see the certificate of the handshake', async () => {
      const bob = await site.grid.certificate('bob');
      const answer = await bob.get(GROUPS);
      expect([answer.status, answer.body]).toEqual([200, { groups: ['grid_user', 'grid_share'] }]);
    });

    it('changes nothing for a certificate header', async () => {
      const { cert } = await site.grid.pair('alice');
      const headers = { ...forgedHeader('nginx', cert), ...forgedHeader('haproxy', cert) };
      const answer = await site.grid.anonymous.get(GROUPS, { headers });
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    });

    it('gives tokens that are good on both instances', async () => {
      const token = await site.grid.token('alice', 'grid_user');
      for (const { grid } of site.instances) {
        const answer = await grid.bearer(token).get('/filecatalogue/metadata');
        expect(answer.status).toBe(200);
      }
    });
  });
}

function subjectOf(token: string): string {
  const [, payload = ''] = token.split('.');
  return (
    JSON.parse(Buffer.from(payload, 'base64url').toString()) as { preferred_username: string }
  ).preferred_username;
}

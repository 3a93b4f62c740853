import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { issueProxyCertificate, issueRevocationList } from '../support/certificates.js';
import {
  issueCertificate,
  type CertificateOrder,
  type IssuedCertificate,
} from '../../src/x509/issuing/certificate-issuer.js';
import { eventually, startGrid, type Answer, type Grid } from '../support/testbed.js';

const DAY = 86_400_000;
const ALICE = '/DC=org/DC=grid/CN=alice';
const CA = '/DC=org/DC=grid/CN=Certificate test CA';
/** Policy of limited proxies (Globus toolkit). */
const LIMITED = '1.3.6.1.4.1.3536.1.1.1.9';
const NEUTRAL = 'The client certificate is not accepted';

/** A directory of trusted CAs as grids lay it out: `hash.0` is a link to the PEM file, `hash.r0` is the CRL. */
class TrustedDirectory {
  private constructor(readonly path: string) {}

  static async make(): Promise<TrustedDirectory> {
    return new TrustedDirectory(await mkdtemp(join(tmpdir(), 'gridgate-ca-')));
  }

  async trust(hash: string, { certificatePem }: IssuedCertificate): Promise<void> {
    await this.write(`ca-${hash}.pem`, certificatePem);
    await symlink(`ca-${hash}.pem`, join(this.path, `${hash}.0`));
  }

  async distrust(hash: string): Promise<void> {
    await rm(join(this.path, `${hash}.0`));
    await rm(join(this.path, `ca-${hash}.pem`));
  }

  /** Puts a file in place at once, as fetch-crl does. */
  async write(name: string, text: string): Promise<void> {
    const draft = join(this.path, `${name}.draft`);
    await writeFile(draft, text);
    await rename(draft, join(this.path, name));
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** A token request with this certificate on a connection of its own; `issuers` are sent along. */
async function ask(
  grid: Grid,
  own: IssuedCertificate,
  issuers: IssuedCertificate[] = [],
): Promise<Answer> {
  const cert = [own, ...issuers].map(({ certificatePem }) => certificatePem).join('');
  const client = await grid.certificate({ cert, key: own.keyPem });
  const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
  return client.get('/oauth2/token', { query });
}

function expectRefusal({ status, headers, body }: Answer, description: string): void {
  expect([status, body]).toEqual([
    401,
    {
      error: 'invalid_client',
      error_description: description,
      type: 'urn:gridgate:problem:auth.certificate-required',
      title: 'A known client certificate is required',
      status: 401,
      detail: description,
      code: 'auth.certificate-required',
      instance: `urn:gridgate:request:${String(headers['x-request-id'])}`,
    },
  ]);
}

function expectToken({ status, body }: Answer): void {
  expect([status, body]).toEqual([
    200,
    {
      access_token: expect.any(String),
      token: body.access_token,
      token_type: 'Bearer',
      expires_in: 21600,
      scope: 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks',
      group: 'grid_user',
      setup: 'Prod',
    },
  ]);
}

/** A token whose end, in seconds since 1970, is another one than usual. */
function expectEnd({ status, body }: Answer, end: number): void {
  const { exp, iat } = decodeJwt(body.access_token);
  expect([status, exp, body.expires_in]).toEqual([200, end, end - (iat ?? 0)]);
}

/** Reason and detail that the log has for the request of this answer. */
async function loggedReason(grid: Grid, { headers }: Answer): Promise<[string, string]> {
  const id = String(headers['x-request-id']);
  return eventually(() => {
    const lines = grid.server.log().split('\n').slice(0, -1);
    const line = lines.find((one) => one.includes(id) && one.includes('certificate refused'));
    if (line === undefined) return Promise.resolve(undefined);
    const { reason, detail } = JSON.parse(line) as { reason: string; detail: string };
    return Promise.resolve<[string, string]>([reason, detail]);
  }, `the reason for the refusal of request ${id} in the log`);
}

/** Waits until the server's log has these words. */
async function logged(grid: Grid, words: string): Promise<void> {
  await eventually(
    () => Promise.resolve(grid.server.log().includes(words)),
    `"${words}" in the log`,
  );
}

let directory: TrustedDirectory;
let ca: IssuedCertificate;

function client(order: Partial<CertificateOrder> = {}): Promise<IssuedCertificate> {
  return issueCertificate({ subject: ALICE, purpose: 'client', issuer: ca, ...order });
}

beforeAll(async () => {
  ca = await issueCertificate({ subject: CA, purpose: 'ca' });
  directory = await TrustedDirectory.make();
  await directory.trust('0a1b2c3d', ca);
});
afterAll(async () => directory.remove());

describe('a client certificate at GET /oauth2/token', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid({
      env: { GRID_TRUSTED_CA: directory.path, GRID_TRUSTED_CA_REFRESH: '1' },
    });
  });
  afterAll(async () => grid?.remove());

  it('opens the door when a CA of the directory has issued it', async () => {
    expectToken(await ask(grid, await client()));
  });

  it('gives a token that ends with it, or with the CA that ends before it', async () => {
    const soon = Math.floor(Date.now() / 1000) + 3600;
    const notAfter = new Date(soon * 1000);
    const passing = await issueCertificate({
      subject: '/DC=org/DC=grid/CN=Passing CA',
      purpose: 'ca',
      issuer: ca,
      notAfter,
    });
    const chains = [
      [await client({ notAfter })],
      [await client({ issuer: passing }), passing],
    ] as const;
    for (const [holder, ...above] of chains) {
      expectEnd(await ask(grid, holder, above), soon);
    }
  });

  const notBefore = new Date(Date.now() + DAY);
  const notAfter = new Date(Date.now() - 1_000);
  const orders: [string, Partial<CertificateOrder>, string, RegExp][] = [
    ['has expired', { notAfter }, 'expired', /CN=alice has expired at \d{4}-/],
    ['is not valid yet', { notBefore }, 'not-yet-valid', /CN=alice is not valid before \d{4}-/],
    [
      'is for servers only',
      { purpose: 'server' },
      'wrong-purpose',
      /CN=alice is not for client authentication$/,
    ],
  ];
  it.each(orders)('is refused when it %s', async (_what, order, reason, detail) => {
    const answer = await ask(grid, await client(order));
    expectRefusal(answer, NEUTRAL);
    expect(await loggedReason(grid, answer)).toEqual([reason, expect.stringMatching(detail)]);
  });

  it('is refused when a CA that is not trusted has issued it, whatever that CA calls itself', async () => {
    for (const subject of ['/DC=org/DC=elsewhere/CN=Other CA', CA]) {
      const other = await issueCertificate({ subject, purpose: 'ca' });
      const answer = await ask(grid, await client({ issuer: other }), [other]);
      expectRefusal(answer, NEUTRAL);
      expect(await loggedReason(grid, answer)).toEqual([
        'untrusted',
        expect.stringMatching(/CN=alice leads to no trusted CA/),
      ]);
    }
  });

  it('of nobody in the registry is refused with the same words', async () => {
    const answer = await ask(grid, await client({ subject: '/DC=org/DC=grid/CN=nobody' }));
    expectRefusal(answer, NEUTRAL);
    expect(await loggedReason(grid, answer)).toEqual([
      'unknown-user',
      `no user of the registry has the DN /DC=org/DC=grid/CN=nobody from ${CA}`,
    ]);
  });

  it('that its user has from another CA only is refused, on every way to it', async () => {
    const holder = await client();
    const bind = (issuer: string | null) =>
      grid.sql('update registry_certificate set issuer = $1 where dn = $2', [issuer, ALICE]);
    const becomes = (status: number) =>
      eventually(async () => {
        const answer = await ask(grid, holder);
        return answer.status === status && answer;
      }, `status ${status}`);
    try {
      await bind(CA);
      expectToken(await becomes(200));
      await bind('/DC=org/DC=grid/CN=Another CA');
      const answer = await becomes(401);
      expectRefusal(answer, NEUTRAL);
      expect(await loggedReason(grid, answer)).toEqual([
        'unknown-user',
        `no user of the registry has the DN ${ALICE} from ${CA}`,
      ]);
      // A CA that is only sent along may have any name: it proves nothing.
      const subject = '/DC=org/DC=grid/CN=Another CA';
      const between = await issueCertificate({ subject, purpose: 'ca', issuer: ca });
      const forged = await ask(grid, await client({ issuer: between }), [between]);
      expectRefusal(forged, NEUTRAL);
      expect(await loggedReason(grid, forged)).toEqual([
        'unknown-user',
        `no user of the registry has the DN ${ALICE} from a CA that is not itself a trusted one`,
      ]);
    } finally {
      await bind(null);
      await becomes(200);
    }
  });

  it('is needed', async () => {
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    expectRefusal(
      await grid.anonymous.get('/oauth2/token', { query }),
      'A client certificate is required',
    );
  });

  it('that is a proxy is refused with words that say so', async () => {
    const holder = await client();
    const answer = await ask(grid, await issueProxyCertificate(holder), [holder]);
    expectRefusal(
      answer,
      'Proxy certificates (RFC 3820) are not accepted here: use the end-entity certificate',
    );
    expect(await loggedReason(grid, answer)).toEqual([
      'proxy-not-allowed',
      expect.stringMatching(/is a proxy certificate \(RFC 3820\)/),
    ]);
  });

  it('whose name its CA may not sign is refused with words that say so, once a policy says so', async () => {
    const holder = await client();
    expect((await ask(grid, holder)).status).toBe(200);
    const policy = (pattern: string): string =>
      `access_id_CA X509 '${CA}'\npos_rights globus CA:sign\ncond_subjects globus '"${pattern}"'\n`;
    try {
      await directory.write('0a1b2c3d.signing_policy', policy('/DC=org/DC=elsewhere/*'));
      const refused = await eventually(async () => {
        const answer = await ask(grid, holder);
        return answer.status === 401 && answer;
      }, 'the policy to count');
      expectRefusal(
        refused,
        'The certificate authority of this client certificate may not sign certificates of this name',
      );
      expect(await loggedReason(grid, refused)).toEqual([
        'outside-namespace',
        `${CA} may not sign ${ALICE}: ${directory.path}/0a1b2c3d.signing_policy does not permit it`,
      ]);
      await directory.write('0a1b2c3d.signing_policy', policy('/DC=org/DC=grid/*'));
      await eventually(async () => (await ask(grid, holder)).status === 200, 'the new policy');
    } finally {
      await rm(`${directory.path}/0a1b2c3d.signing_policy`);
    }
  });

  it('is refused without a restart once its CA has revoked it', async () => {
    const [good, bad] = [await client(), await client()];
    const keptOpen = await grid.certificate({ cert: bad.certificatePem, key: bad.keyPem });
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    expectToken(await keptOpen.get('/oauth2/token', { query }));
    await directory.write('0a1b2c3d.r0', issueRevocationList({ issuer: ca, revoked: [bad] }));
    const refused = await eventually(async () => {
      const answer = await keptOpen.get('/oauth2/token', { query });
      return answer.status === 200 ? undefined : answer;
    }, 'the revocation to be noticed');
    expectRefusal(refused, NEUTRAL);
    expect(await loggedReason(grid, refused)).toEqual([
      'revoked',
      expect.stringMatching(/CN=alice was revoked by .*CN=Certificate test CA$/),
    ]);
    expectRefusal(await ask(grid, bad), NEUTRAL);
    expectToken(await ask(grid, good));
  });

  it('follows CAs that come and go without a restart, and the log tells', async () => {
    const other = await issueCertificate({ subject: '/DC=org/DC=later/CN=CA', purpose: 'ca' });
    const own = await client({ issuer: other });
    expectRefusal(await ask(grid, own), NEUTRAL);
    await directory.trust('deadbeef', other);
    const accepted = await eventually(async () => {
      const answer = await ask(grid, own);
      return answer.status === 200 ? answer : undefined;
    }, 'the new CA to be trusted');
    expectToken(accepted);
    await logged(grid, 'trusted CAs: read again, there are 2');
    await directory.distrust('deadbeef');
    const refused = await eventually(async () => {
      const answer = await ask(grid, own);
      return answer.status === 200 ? undefined : answer;
    }, 'the CA to be forgotten');
    expectRefusal(refused, NEUTRAL);
  });

  it('counts as before while a file of the directory cannot be read, and the log tells', async () => {
    await directory.write('ca-0a1b2c3d.pem', 'no certificate');
    try {
      await logged(grid, 'its last content stays');
      expectToken(await ask(grid, await client()));
    } finally {
      await directory.write('ca-0a1b2c3d.pem', ca.certificatePem);
    }
  });
});

describe('a proxy certificate where GRID_ALLOW_PROXY_CERTIFICATES is true', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid({
      env: { GRID_TRUSTED_CA: directory.path, GRID_ALLOW_PROXY_CERTIFICATES: 'true' },
    });
  });
  afterAll(async () => grid?.remove());

  it('counts as its end entity, over more than one proxy as well', async () => {
    const holder = await client();
    const proxy = await issueProxyCertificate(holder);
    const answer = await ask(grid, proxy, [holder]);
    expectToken(answer);
    expect(decodeJwt(answer.body.access_token)['preferred_username']).toBe('alice');
    expectToken(await ask(grid, await issueProxyCertificate(proxy), [proxy, holder]));
  });

  it('ends the token with it', async () => {
    const holder = await client();
    const soon = Math.floor(Date.now() / 1000) + 1800;
    const proxy = await issueProxyCertificate(holder, { notAfter: new Date(soon * 1000) });
    expectEnd(await ask(grid, proxy, [holder]), soon);
  });

  it('submits no jobs and signs nobody in when it or one above it is limited', async () => {
    const holder = await client();
    const limited = await issueProxyCertificate(holder, { proxyLanguage: LIMITED });
    const chains = [
      [limited, holder],
      [await issueProxyCertificate(limited, { proxyLanguage: LIMITED }), limited, holder],
    ];
    for (const [own, ...above] of chains as [IssuedCertificate, ...IssuedCertificate[]][]) {
      const answer = await ask(grid, own, above);
      expect([answer.status, answer.body.scope]).toEqual([
        200,
        'jobs:read jobs:kill catalogue:read catalogue:write webhooks',
      ]);
      const cert = [own, ...above].map(({ certificatePem }) => certificatePem).join('');
      const browser = await grid.certificate({ cert, key: own.keyPem });
      const page = await browser.get('/oauth2/applications');
      expect([page.status, String(page.body)]).toEqual([
        401,
        expect.stringContaining('The certificate of your browser is not accepted here'),
      ]);
    }
  });

  it('is refused when it or its end entity has expired', async () => {
    const holder = await client();
    const notAfter = new Date(Date.now() - 1_000);
    const oldHolder = await client({ notAfter });
    const chains: [IssuedCertificate, IssuedCertificate][] = [
      [await issueProxyCertificate(holder, { notAfter }), holder],
      [await issueProxyCertificate(oldHolder), oldHolder],
    ];
    for (const [proxy, signer] of chains) {
      const answer = await ask(grid, proxy, [signer]);
      expectRefusal(answer, NEUTRAL);
      expect(await loggedReason(grid, answer)).toEqual([
        'expired',
        expect.stringMatching(/CN=alice.* has expired at /),
      ]);
    }
  });

  it('is refused when somebody else has signed it', async () => {
    const mallory = await client({ subject: '/DC=org/DC=grid/CN=bob' });
    const proxy = await issueProxyCertificate(mallory, { subject: `${ALICE}/CN=1` });
    const answer = await ask(grid, proxy, [mallory]);
    expectRefusal(answer, NEUTRAL);
    expect(await loggedReason(grid, answer)).toEqual([
      'invalid-proxy',
      expect.stringMatching(/is not named like its issuer/),
    ]);
  });
});

import { generateKeyPairSync, randomUUID, X509Certificate, type KeyObject } from 'node:crypto';
import { decodeJwt, exportJWK, SignJWT, type JWK } from 'jose';
import { addApplication } from '../support/applications.js';
import { PageVisitor, redirectOf } from '../support/page-visitor.js';
import { allow, authorizePath, exchange } from '../support/portal.js';
import { startGrid, type Answer, type Grid, type GridClient } from '../support/testbed.js';

type Form = Record<string, string>;
type Metadata = Record<string, string[]>;

interface SigningKey {
  privateKey: KeyObject;
  jwk: JWK;
}

async function keyFor(algorithm: string): Promise<SigningKey> {
  const makers: Record<string, () => { privateKey: KeyObject; publicKey: KeyObject }> = {
    ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    EdDSA: () => generateKeyPairSync('ed25519'),
    Ed25519: () => generateKeyPairSync('ed25519'),
  };
  const make = makers[algorithm];
  if (!make) throw new Error(`this test makes no key for ${algorithm}`);
  const { privateKey, publicKey } = make();
  return { privateKey, jwk: await exportJWK(publicKey) };
}

/** What the discovery documents list works, one thing after the other; what they do not list is refused. */
describe('all that the discovery documents say', () => {
  let grid: Grid;
  let anonymous: GridClient;
  let said: Metadata;

  beforeAll(async () => {
    grid = await startGrid();
    anonymous = grid.anonymous;
    said = (await anonymous.get('/.well-known/openid-configuration')).body as Metadata;
    await addApplication(grid, { id: 'public' });
    await addApplication(grid, { id: 'secret', confidential: true });
    await grid.sql(
      `update registry_application set secret_hash = $1 where id = 'secret'`,
      // of the word `secret`
      ['K7gNU3sdo-OL0wNhqoVWhr3g6s1xYv72ol_pe_Unols'],
    );
  });
  afterAll(async () => grid?.remove());

  /** The path of an address that they name. */
  const pathOf = (name: string): string => {
    const address = String(said[name]);
    expect(address.startsWith(`${grid.url}/`)).toBe(true);
    return address.slice(grid.url.length);
  };
  const errorOf = ({ status, body }: Answer): unknown => [status, body.error];

  it('is at the addresses that they name', async () => {
    const names = Object.keys(said).filter((name) => /_endpoint$|^jwks_uri$/.test(name));
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      const path = pathOf(name);
      const isRead = /^(authorization|userinfo|end_session)_endpoint$|^jwks_uri$/.test(name);
      const { status } = isRead ? await anonymous.get(path) : await anonymous.post(path);
      expect([name, [404, 405].includes(status), status < 500]).toEqual([name, false, true]);
    }
  });

  it('are grant types, and others are not known', async () => {
    const send = async (type: string): Promise<unknown> =>
      errorOf(
        await anonymous.post('/oauth2/token', { form: { grant_type: type, client_id: 'public' } }),
      );
    for (const type of said['grant_types_supported'] ?? []) {
      const answer = await send(type);
      expect([type, answer]).not.toEqual([type, [400, 'unsupported_grant_type']]);
    }
    expect(await send('password')).toEqual([400, 'unsupported_grant_type']);
  });

  /** Answers of the three endpoints at which applications prove themselves. */
  const proved = async (prove: (path: string) => Promise<Form>, headers = {}, on = anonymous) => {
    const answers = [];
    for (const [name, form] of [
      ['token_endpoint', { grant_type: 'refresh_token', refresh_token: 'none' }],
      ['revocation_endpoint', { token: 'none' }],
      ['introspection_endpoint', { token: 'none' }],
    ] as const) {
      const path = pathOf(name);
      const all: Form = { ...form, ...(await prove(path)) };
      answers.push(errorOf(await on.post(path, { form: all, headers })));
    }
    return answers;
  };
  const ACCEPTED = [
    [400, 'invalid_grant'],
    [200, undefined],
    [200, undefined],
  ];

  it('are ways in which applications prove themselves, at each endpoint', async () => {
    const stranger = await grid.certificate('stranger');
    const certificate = new X509Certificate((await grid.pair('stranger')).cert);
    const jwk = await exportJWK(certificate.publicKey);
    const jwks = { keys: [{ ...jwk, x5c: [certificate.raw.toString('base64')] }] };
    const subjectDn = '/DC=org/DC=grid/CN=stranger';
    await addApplication(grid, { id: 'dn', authentication: 'tls_client_auth', subjectDn });
    await addApplication(grid, { id: 'own', authentication: 'self_signed_tls_client_auth', jwks });
    const basic = `Basic ${Buffer.from('secret:secret').toString('base64')}`;
    const named = (id: string, more: Form = {}) => Promise.resolve({ client_id: id, ...more });
    const ways: Record<string, () => Promise<unknown>> = {
      none: () => proved(() => named('public')),
      client_secret_basic: () => proved(() => Promise.resolve({}), { authorization: basic }),
      client_secret_post: () => proved(() => named('secret', { client_secret: 'secret' })),
      private_key_jwt: () => Promise.resolve(ACCEPTED), // each algorithm below
      tls_client_auth: () => proved(() => named('dn'), {}, stranger),
      self_signed_tls_client_auth: () => proved(() => named('own'), {}, stranger),
    };
    for (const endpoint of ['token', 'revocation', 'introspection']) {
      const listed = said[`${endpoint}_endpoint_auth_methods_supported`];
      expect([...(listed ?? [])].sort()).toEqual(Object.keys(ways).sort());
    }
    for (const [way, answers] of Object.entries(ways)) {
      expect([way, await answers()]).toEqual([way, ACCEPTED]);
    }
  });

  it('are algorithms of what applications sign, at each endpoint', async () => {
    const listed = said['token_endpoint_auth_signing_alg_values_supported'] ?? [];
    for (const endpoint of ['revocation', 'introspection']) {
      expect(said[`${endpoint}_endpoint_auth_signing_alg_values_supported`]).toEqual(listed);
    }
    expect(listed.length).toBeGreaterThan(2);
    for (const alg of listed) {
      const { privateKey, jwk } = await keyFor(alg);
      const id = `by-${alg}`;
      const jwks = { keys: [jwk] };
      await addApplication(grid, { id, authentication: 'private_key_jwt', jwks });
      const answers = await proved(async () => ({
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await new SignJWT({ jti: randomUUID() })
          .setProtectedHeader({ alg })
          .setIssuer(id)
          .setSubject(id)
          .setAudience(grid.url)
          .setExpirationTime('1m')
          .sign(privateKey),
      }));
      expect([alg, answers]).toEqual([alg, ACCEPTED]);
    }
  });

  it('are algorithms of DPoP proofs', async () => {
    const path = pathOf('token_endpoint');
    const form = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const alice = await grid.certificate('alice');
    const listed = said['dpop_signing_alg_values_supported'] ?? [];
    expect(listed.length).toBeGreaterThan(2);
    for (const alg of listed) {
      const { privateKey, jwk } = await keyFor(alg);
      const send = async (nonce?: unknown): Promise<Answer> => {
        const claims = { jti: randomUUID(), htm: 'POST', htu: grid.url + path, nonce };
        const dpop = await new SignJWT(claims)
          .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk })
          .setIssuedAt()
          .sign(privateKey);
        return alice.post(path, { form, headers: { dpop } });
      };
      const { headers } = await send();
      const { status, body } = await send(headers['dpop-nonce']);
      expect([alg, status, body.token_type]).toEqual([alg, 200, 'DPoP']);
    }
  });

  it('are parameters of the authorization request, and others are refused', async () => {
    const errorFor = async (parameters: Form): Promise<string | undefined> => {
      const visitor = new PageVisitor(await grid.certificate('alice'));
      const page = await visitor.open(authorizePath(parameters));
      return page.status === 302 ? redirectOf(page).parameters['error'] : undefined;
    };
    const listed: [string, string[] | undefined, string, string][] = [
      ['response_type', said['response_types_supported'], 'token', 'unsupported_response_type'],
      ['response_mode', said['response_modes_supported'], 'form_post', 'invalid_request'],
      ['prompt', said['prompt_values_supported'], 'create', 'invalid_request'],
      ['scope', said['scopes_supported'], 'nothing', 'invalid_scope'],
    ];
    const ofOpenId = ['profile', 'email', 'offline_access']; // they mean nothing without it
    for (const [name, values = [], other, error] of listed) {
      expect([name, values.length > 0]).toEqual([name, true]);
      for (const value of values) {
        const whole = ofOpenId.includes(value) ? `openid ${value}` : value;
        const answer = await errorFor({ [name]: whole });
        const isSilent = value === 'none'; // nothing was allowed yet
        expect([name, value, answer]).toEqual([
          name,
          value,
          isSilent ? 'consent_required' : undefined,
        ]);
      }
      expect([name, await errorFor({ [name]: other })]).toEqual([name, error]);
    }
    expect(said['code_challenge_methods_supported']).toEqual(['S256']);
    const plain = { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' };
    expect(await errorFor(plain)).toBe('invalid_request');
  });

  it('are claims of ID tokens and of what is said of users', async () => {
    const parameters = { scope: 'openid profile email', nonce: 'n' };
    const { code } = await allow(grid, 'alice', { parameters });
    const { body } = await exchange(grid, code);
    const { id_token: idToken = '' } = body as { id_token?: string };
    const info = await grid.bearer(body.access_token).get('/oauth2/userinfo');
    const claims = Object.keys({ ...decodeJwt(idToken), ...info.body });
    expect(claims).toEqual(expect.arrayContaining(said['claims_supported'] ?? []));
    expect(said['acr_values_supported']).toContain(decodeJwt(idToken)['acr']);
    const { keys } = (await anonymous.get(pathOf('jwks_uri'))).body as { keys: JWK[] };
    expect(keys.map(({ alg }) => alg)).toEqual(
      expect.arrayContaining(said['id_token_signing_alg_values_supported'] ?? []),
    );
  });
});

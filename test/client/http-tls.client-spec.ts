import { jest } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConnectionError, Session, SSLError } from '#src/http-client/index.js';
import { makeAuthority, type Authority, type Identity } from './support/certificates.js';
import { useCleanEnvironment } from '#src/http-client/testing/clean-environment.js';
import { startServer, type LocalServer } from './support/local-server.js';

describe('requests by TLS', () => {
  useCleanEnvironment();

  let authority: Authority;
  let alice: Identity;
  let server: LocalServer;
  let strict: LocalServer;
  let session: Session;
  let directory = '';
  const at = (name: string): string => join(directory, name);

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'http-tls-'));
    authority = await makeAuthority('Test CA');
    const other = await makeAuthority('Other CA');
    alice = await authority.issue('alice');
    const mallory = await other.issue('mallory');
    writeFileSync(at('ca.pem'), authority.cert);
    writeFileSync(at('other.pem'), other.cert);
    writeFileSync(at('alice.pem'), alice.cert + alice.key);
    writeFileSync(at('alice.crt'), alice.cert);
    writeFileSync(at('alice.key'), alice.key);
    writeFileSync(at('mallory.pem'), mallory.cert + mallory.key);
    for (const name of ['authorities', 'empty']) mkdirSync(at(name));
    writeFileSync(at('authorities/1a2b3c4d.0'), authority.cert);
    writeFileSync(at('authorities/5e6f7a8b.0'), other.cert);
    writeFileSync(at('authorities/5e6f7a8b.r0'), 'a revocation list');
    const identity = await authority.issue('localhost', ['localhost']);
    const tls = { ...identity, ca: authority.cert, requestCert: true };
    const whoAmI = (request: { socket: object }, response: { end(text: string): void }): void => {
      const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject ?? {};
      response.end(String(CN));
    };
    server = await startServer(whoAmI, { ...tls, rejectUnauthorized: false });
    strict = await startServer(whoAmI, { ...tls, rejectUnauthorized: true });
  });

  afterAll(async () => {
    await server.close();
    await strict.close();
    rmSync(directory, { recursive: true });
  });

  beforeEach(() => {
    session = new Session({ trust_env: false });
  });
  afterEach(() => session.close());

  describe('verify', () => {
    it('trusts no unknown authority', async () => {
      await expect(session.get(server.url('/'))).rejects.toThrow(SSLError);
    });

    it.each(['ca.pem', 'authorities'])('trusts %s, of the session or the call', async (name) => {
      expect((await session.get(server.url('/'), { verify: at(name) })).ok).toBe(true);
      session.verify = at(name);
      expect((await session.get(server.url('/'))).ok).toBe(true);
    });

    it.each(['other.pem', 'empty', 'missing.pem', 'empty/missing'])(
      'fails with %s',
      async (name) => {
        await expect(session.get(server.url('/'), { verify: at(name) })).rejects.toThrow(SSLError);
      },
    );

    it('checks the name of the host', async () => {
      const url = server.url('/', '127.0.0.1');
      await expect(session.get(url, { verify: at('ca.pem') })).rejects.toThrow(
        'ERR_TLS_CERT_ALTNAME_INVALID',
      );
    });

    it('expects the certificate of the URL, whatever the Host header says', async () => {
      const headers = { Host: 'elsewhere.test' };
      const response = await session.get(server.url('/'), { headers, verify: at('ca.pem') });
      expect(response.ok).toBe(true);
    });

    it('false checks neither authority nor name, and says so once', async () => {
      const warnings: unknown[] = [];
      const original = Object.getOwnPropertyDescriptor(process, 'emitWarning');
      process.emitWarning = (...[, name]: unknown[]) => void warnings.push(name);
      const options = { verify: false };
      expect((await session.get(server.url('/', '127.0.0.1'), options)).ok).toBe(true);
      expect((await session.get(server.url('/'), options)).ok).toBe(true);
      if (original) Object.defineProperty(process, 'emitWarning', original);
      else delete (process as { emitWarning?: unknown }).emitWarning;
      expect(warnings).toEqual(['InsecureRequestWarning']);
    });

    it('false of one call does not make other calls insecure', async () => {
      await session.get(server.url('/'), { verify: false });
      await expect(session.get(server.url('/'))).rejects.toThrow(SSLError);
    });

    it.each(['REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'])('takes %s with trust_env', async (name) => {
      process.env[name] = at('ca.pem');
      await expect(session.get(server.url('/'))).rejects.toThrow(SSLError);
      session.trust_env = true;
      expect((await session.get(server.url('/'))).ok).toBe(true);
    });
  });

  describe('cert', () => {
    beforeEach(() => {
      session.verify = at('ca.pem');
    });

    it('is a PEM file with both, or a pair of files', async () => {
      expect((await session.get(strict.url('/'), { cert: at('alice.pem') })).text).toBe('alice');
      const cert = [at('alice.crt'), at('alice.key')] as const;
      expect((await session.get(strict.url('/'), { cert })).text).toBe('alice');
      session.cert = at('alice.pem');
      expect((await session.get(strict.url('/'))).text).toBe('alice');
    });

    it('of one call is not shown in others', async () => {
      expect((await session.get(server.url('/'), { cert: at('alice.pem') })).text).toBe('alice');
      expect((await session.get(server.url('/'))).text).toBe('undefined');
    });

    it('missing or of a foreign authority breaks the connection where one is demanded', async () => {
      await expect(session.get(strict.url('/'))).rejects.toThrow(ConnectionError);
      const cert = at('mallory.pem');
      await expect(session.get(strict.url('/'), { cert })).rejects.toThrow(ConnectionError);
    });

    it('that cannot be read is an SSLError', async () => {
      for (const cert of [at('missing.pem'), at('ca.pem')]) {
        await expect(session.get(server.url('/'), { cert })).rejects.toThrow(SSLError);
      }
    });

    it('is read again within a second when its file changes', async () => {
      const path = at('renewed.pem');
      writeFileSync(path, alice.cert + alice.key);
      expect((await session.get(strict.url('/'), { cert: path })).text).toBe('alice');
      const bob = await authority.issue('bob');
      writeFileSync(path, bob.cert + bob.key);
      utimesSync(path, new Date(), new Date(Date.now() + 10_000));
      const now = performance.now.bind(performance);
      const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 1_000);
      expect((await session.get(strict.url('/'), { cert: path })).text).toBe('bob');
      clock.mockRestore();
    });
  });
});

import { X509Certificate } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_IDENTITIES, ensureDevelopmentPki } from './development-ca.js';
import { dnOfCertificate } from '../certificate/distinguished-name.js';
import { TrustedAuthorities } from '../trust/trusted-authorities.js';

const DAY = 86_400_000;
const PUBLIC_URL = 'https://localhost:8443';
const ALL = ['ca', 'server', ...DEMO_IDENTITIES];
let directory: string;
let issued: string;

async function ensure(more: { publicUrl?: string; now?: number } = {}): Promise<string[]> {
  const options = { directory, publicUrl: PUBLIC_URL, ...more };
  return (await ensureDevelopmentPki(options)).issued;
}

/** What was issued earlier. */
const givePki = (): void => cpSync(issued, directory, { recursive: true });

const path = (name: string): string => join(directory, name);
const read = (name: string): X509Certificate => new X509Certificate(readFileSync(path(name)));

describe('ensureDevelopmentPki', () => {
  beforeAll(async () => {
    issued = mkdtempSync(join(tmpdir(), 'gridgate-pki-'));
    await ensureDevelopmentPki({ directory: issued, publicUrl: PUBLIC_URL });
  });
  afterAll(() => rmSync(issued, { recursive: true }));
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'gridgate-pki-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('issues the CA, the server and every demo identity, and nothing the second time', async () => {
    expect(await ensure()).toEqual(ALL);
    expect(await ensure()).toEqual([]);
    expect(readdirSync(directory).sort()).toEqual(
      ALL.flatMap((name) => [`${name}.crt`, `${name}.key`]).sort(),
    );
    expect(dnOfCertificate(read('alice.crt'))).toBe('/DC=org/DC=grid/CN=alice');
  });

  it('keeps keys to their owner', () => {
    givePki();
    const modes = ALL.map((name) => statSync(path(`${name}.key`)).mode & 0o777);
    expect(new Set(modes)).toEqual(new Set([0o600]));
  });

  it('makes identities that the CA file vouches for, and a server that is no client', async () => {
    givePki();
    const authorities = await TrustedAuthorities.open({ paths: [path('ca.crt')] });
    const names = ['alice', 'server'].map((name) => authorities.verify([read(`${name}.crt`).raw]));
    authorities.close();
    expect(names).toMatchObject([
      { ok: true, subject: '/DC=org/DC=grid/CN=alice' },
      { ok: false, reason: 'wrong-purpose' },
    ]);
  });

  it('covers localhost, both loopback addresses and the public host', async () => {
    await ensure({ publicUrl: 'https://grid.example.org/base' });
    const server = read('server.crt');
    expect([
      server.checkHost('localhost'),
      server.checkHost('grid.example.org'),
      server.checkIP('127.0.0.1'),
      server.checkIP('::1'),
      server.checkHost('other.example.org'),
    ]).toEqual(['localhost', 'grid.example.org', '127.0.0.1', '::1', undefined]);
  });

  it('issues the server again for another public host, an IPv6 address too', async () => {
    givePki();
    expect(await ensure({ publicUrl: 'https://grid.example.org' })).toEqual(['server']);
    expect(await ensure({ publicUrl: 'https://[2001:db8::1]:8443' })).toEqual(['server']);
    expect(await ensure({ publicUrl: 'https://[2001:db8::1]:9443' })).toEqual([]);
  });

  it('issues again what ends within 30 days', async () => {
    givePki();
    expect(await ensure({ now: Date.now() + 366 * DAY })).toEqual([]);
    expect(await ensure({ now: Date.now() + 368 * DAY })).toEqual(ALL.slice(1));
    expect(await ensure({ now: Date.now() + 368 * DAY })).toEqual([]);
  });

  it.each([
    ['a missing key', () => unlinkSync(path('alice.key'))],
    ['a missing certificate', () => unlinkSync(path('alice.crt'))],
    ['a certificate cut off', () => truncateSync(path('alice.crt'), 100)],
    ['an empty key', () => truncateSync(path('alice.key'))],
    ["another's key", () => writeFileSync(path('alice.key'), readFileSync(path('bob.key')))],
  ])('repairs %s', async (_what, damage) => {
    givePki();
    damage();
    expect(await ensure()).toEqual(['alice']);
    expect(await ensure()).toEqual([]);
  });

  it('issues everything again when the CA is gone, and clears drafts of a crash away', async () => {
    givePki();
    unlinkSync(path('ca.key'));
    writeFileSync(path('ca.key.draft-0123'), 'half');
    expect(await ensure()).toEqual(ALL);
    expect(readdirSync(directory).filter((name) => name.includes('draft'))).toEqual([]);
  });
});

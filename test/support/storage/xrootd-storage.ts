import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Daemon, waitUntil } from '../daemon.js';
import { blocksOf } from '../documentation.js';
import { has } from '../missing.js';
import { freePort } from '../ports.mjs';
import { bridge } from './bridge.mjs';

const PLUGIN = '/usr/lib/x86_64-linux-gnu/libXrdAccSciTokens-5.so';
/** Where Debian's libcurl, with which scitokens-cpp asks the issuer, looks for CAs. */
const MACHINE_CAS = '/etc/ssl/certs/ca-certificates.crt';
const OWN_NETWORK = fileURLToPath(new URL('own-network.mjs', import.meta.url));
/** The page whose configuration is tried. */
export const PAGE = 'docs/how-to/open-a-storage.md';
const FOLDERS = ['data', 'admin', 'run', 'certificates'];
const TOOL_DEADLINE_MS = 30_000;

/** What the judges need of packages. */
export const packages = {
  met:
    ['xrootd', 'xrdcp', 'scitokens-verify', 'bwrap', 'curl', 'openssl'].every(has) &&
    pluginIsThere(),
  name: 'xrootd-server, xrootd-client, xrootd-scitokens-plugins, scitokens-cpp, bubblewrap, curl, openssl',
};

/** What they need of the machine: a view of its files in which another file says which CAs are trusted. */
export const namespaces = {
  met: !packages.met || spawnSync('bwrap', [...wrapped(MACHINE_CAS), 'true']).status === 0,
  name: 'namespaces for normal users, for bubblewrap',
};

/** What a program said and how it ended, or a storage and with which status. */
export interface Said {
  status: number;
  text: string;
}

/** What a request to a storage may carry. */
export interface StorageCall {
  token?: string | undefined;
  body?: string;
  headers?: string[];
}

/** A storage service: Debian's xrootd with its SciTokens plug-in, which knows of the grid its address alone. */
export class XrootdStorage {
  private readonly doors: Server[] = [];

  private constructor(
    private readonly daemon: Daemon,
    readonly directory: string,
    readonly port: number,
  ) {}

  get url(): string {
    return `https://localhost:${this.port}`;
  }

  /** Trusted CAs, as clients of the grid want them. */
  get certificates(): string {
    return join(this.directory, 'certificates');
  }

  /** Its exported tree. */
  get root(): string {
    return join(this.directory, 'data');
  }

  /**
   * Starts one that takes tokens of the issuer with the audience. It listens in a network of its own, since it cannot be
   * told to listen on loopback alone, and is on loopback by a bridge. `pki` has ca.crt, server.crt and server.key.
   */
  static async start(issuer: string, audience: string, pki: string): Promise<XrootdStorage> {
    const directory = await mkdtemp(join(tmpdir(), 'grid-xrootd-'));
    const port = await freePort();
    await prepare(directory, { port, issuer, audience, pki });
    const gridPort = Number(new URL(issuer).port);
    const command = ['xrootd', '-n', 'storage', '-c', join(directory, 'xrootd.cfg')];
    const daemon = new Daemon({
      program: 'bwrap',
      args: [
        ...wrapped(join(directory, 'ca.crt')),
        ...['--unshare-net', '--die-with-parent', '--chdir', directory],
        ...['--setenv', 'XDG_CACHE_HOME', directory, '--'],
        ...[process.execPath, OWN_NETWORK, directory, `${gridPort}`, `${port}`, ...command],
      ],
      log: join(directory, 'daemon.log'),
    });
    const storage = new XrootdStorage(daemon, directory, port);
    try {
      storage.doors.push(await bridge(join(directory, 'grid.sock'), gridPort));
      storage.doors.push(await bridge(port, join(directory, 'storage.sock')));
      daemon.start();
      await waitUntil(() => storage.answersOrEnded(), 'xrootd to answer');
      if (!daemon.isRunning) throw new Error(`xrootd ended: ${await storage.log()}`);
    } catch (error) {
      await storage.remove();
      throw error;
    }
    return storage;
  }

  /** A request by curl, with the token or without; the answer read whole. */
  async call(
    method: string,
    path: string,
    { token, body, headers = [] }: StorageCall = {},
  ): Promise<Said> {
    const all = token === undefined ? headers : [...headers, `Authorization: Bearer ${token}`];
    const args = [
      ...['--silent', '--show-error', '--path-as-is', '--cacert', join(this.directory, 'ca.crt')],
      ...['--request', method, '--write-out', '\n%{http_code}'],
      ...all.flatMap((header) => ['--header', header]),
      ...(body === undefined ? [] : ['--data-binary', body]),
      `${this.url}${path}`,
    ];
    const { status, text } = await said('curl', args, {});
    if (status !== 0) throw new Error(`curl ended with ${status}: ${text}`);
    const end = text.lastIndexOf('\n');
    return { status: Number(text.slice(end + 1)), text: text.slice(0, end) };
  }

  /** What it has written. */
  log(): Promise<string> {
    return readFile(join(this.directory, 'daemon.log'), 'utf8').catch(() => '');
  }

  async remove(): Promise<void> {
    await this.daemon.end();
    await Promise.all(this.doors.map((door) => new Promise((done) => door.close(done))));
    await rm(this.directory, { recursive: true, force: true });
  }

  private async answersOrEnded(): Promise<boolean> {
    if (!this.daemon.isRunning) return true;
    return this.call('GET', '/').then(
      () => true,
      () => false,
    );
  }
}

/** Runs a tool of scitokens-cpp that trusts the CA, and keeps keys in the directory. */
export function sciTokens(
  { ca, cache }: { ca: string; cache: string },
  ...words: [tool: string, ...args: string[]]
): Promise<Said> {
  const args = [...wrapped(ca), '--setenv', 'XDG_CACHE_HOME', cache, '--', ...words];
  return said('bwrap', args, {});
}

/** Runs a program to its end; it may not take longer than half a minute. */
export function said(program: string, args: string[], env: Record<string, string>): Promise<Said> {
  const options = { timeout: TOOL_DEADLINE_MS, env: { PATH: process.env['PATH'] ?? '', ...env } };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ status, text: `${stdout}${stderr}` });
    });
  });
}

/** The version of xrootd as a number: 50503 is 5.5.3. */
export function xrootdVersion(): number {
  const { stderr, stdout } = spawnSync('xrootd', ['-v'], { encoding: 'utf8' });
  const [, major = 0, minor = 0, patch = 0] = /v(\d+)\.(\d+)\.(\d+)/.exec(stdout + stderr) ?? [];
  return Number(major) * 10_000 + Number(minor) * 100 + Number(patch);
}

/** bubblewrap's words for a view of the machine as it is, beside the file of CAs, by who is not root in it. */
function wrapped(ca: string): string[] {
  const user = ['--unshare-user', '--uid', '1000', '--gid', '1000'];
  return ['--dev-bind', '/', '/', ...user, '--bind', ca, MACHINE_CAS];
}

function pluginIsThere(): boolean {
  return existsSync(PLUGIN.replace('x86_64', process.arch === 'arm64' ? 'aarch64' : 'x86_64'));
}

interface Particulars {
  port: number;
  issuer: string;
  audience: string;
  pki: string;
}

async function prepare(directory: string, what: Particulars): Promise<void> {
  const names = ['ca.crt', 'server.crt', 'server.key'];
  const [ca = '', cert = '', key = ''] = names.map((name) => join(directory, name));
  const [data = '', admin = '', run = '', certificates = ''] = FOLDERS.map((name) =>
    join(directory, name),
  );
  await Promise.all([
    ...names.map((name) => copyFile(join(what.pki, name), join(directory, name))),
    ...FOLDERS.map((name) => mkdir(join(directory, name))),
  ]);
  await chmod(key, 0o600);
  const hash = await said('openssl', ['x509', '-hash', '-noout', '-in', ca], {});
  await copyFile(ca, join(certificates, `${hash.text.trim()}.0`));
  const trust = join(directory, 'scitokens.cfg');
  const trusting = inPlace('scitokens.cfg', [
    ['https://storage.example.org', what.audience],
    ['https://grid.example.org', what.issuer],
  ]);
  await writeFile(trust, trusting);
  const configured = inPlace('xrootd.cfg', [
    ['/etc/xrootd/scitokens.cfg', trust],
    ['/etc/grid-security/certificates', certificates],
    ['/etc/grid-security/xrd/hostcert.pem', cert],
    ['/etc/grid-security/xrd/hostkey.pem', key],
    ['/var/spool/xrootd', admin],
    ['/run/xrootd', run],
    ['/srv/data', data],
    ['1094', `${what.port}`],
  ]);
  // There is no name service in its network.
  const more = 'xrd.network nodnr norpipa\nscitokens.trace all\n';
  await writeFile(join(directory, 'xrootd.cfg'), `${configured}\n${more}`);
}

/** A file of the page, with the places and names of a test instead of the page's own. */
function inPlace(name: string, places: [shown: string, own: string][]): string {
  const file = blocksOf(PAGE).find(({ mark }) => mark?.kind === 'file' && mark.words === name);
  return places.reduce((text, [shown, own]) => {
    if (!text.includes(shown)) throw new Error(`${PAGE} does not show ${shown} in ${name}`);
    return text.replaceAll(shown, own);
  }, file?.text ?? '');
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHome } from './grid-home.js';
import { ownIdentity, processStat } from './process-identity.js';
import { acquireProcessLock, processLockHolder } from './process-lock.js';

let base: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gridgate-home-')));
});

afterEach(() => rmSync(base, { recursive: true }));

describe('openHome', () => {
  it('makes the directory and its subdirectories, also when they exist', async () => {
    const path = join(base, 'a', 'b');
    for (let round = 0; round < 2; round++) {
      const home = await openHome(path);
      expect({ ...home, lockForServer: undefined }).toEqual({
        path,
        postgres: join(path, 'postgres'),
        pki: join(path, 'pki'),
        sandboxes: join(path, 'sandboxes'),
        logs: join(path, 'logs'),
        lockForServer: undefined,
      });
      expect(readdirSync(path).sort()).toEqual(['logs', 'pki', 'postgres', 'sandboxes']);
    }
  });

  it('follows a symbolic link to the real place', async () => {
    await openHome(join(base, 'real'));
    symlinkSync('real', join(base, 'link'));
    expect((await openHome(join(base, 'link'))).path).toBe(join(base, 'real'));
  });

  it('refuses a file, a path below a file, and a link to nowhere', async () => {
    writeFileSync(join(base, 'file'), '');
    symlinkSync('nowhere/at/all', join(base, 'dangling'));
    await expect(openHome(join(base, 'file'))).rejects.toThrow('it is not a directory');
    await expect(openHome(join(base, 'file', 'x'))).rejects.toThrow(
      'a part of the path is not a directory',
    );
    await expect(openHome(join(base, 'dangling'))).rejects.toThrow('cannot be created');
  });
});

describe('the lock of the server', () => {
  it('refuses a second server with the pid of the first, until it is released', async () => {
    const home = await openHome(base);
    const lock = await home.lockForServer();
    await expect(home.lockForServer()).rejects.toThrow(
      `another Gridgate server (pid ${process.pid}, since `,
    );
    expect(await processLockHolder(lock.path)).toBe(process.pid);
    await lock.release();
    await lock.release();
    expect(existsSync(lock.path)).toBe(false);
    await (await home.lockForServer()).release();
  });

  it('lets exactly one of many win', async () => {
    const path = join(base, 'lock');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, () => acquireProcessLock(path)),
    );
    const winners = outcomes.filter((one) => one.status === 'fulfilled');
    expect(winners).toHaveLength(1);
    await winners[0]?.value.release();
    expect(readdirSync(base)).toEqual([]);
  });

  const content = (identity: object): string =>
    JSON.stringify({ ...ownIdentity(), nonce: 'n', since: 'yesterday', ...identity });

  it('of a process that is gone is taken over', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    const path = join(base, 'lock');
    writeFileSync(path, content({ pid: child.pid }));
    const lock = await acquireProcessLock(path);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid });
    await lock.release();
  });

  it('of a pid that another process has now is taken over', async () => {
    if (processStat(process.pid) === undefined) return;
    const path = join(base, 'lock');
    writeFileSync(path, content({ startTicks: '1' }));
    await (await acquireProcessLock(path)).release();
  });

  it('that was copied along with its directory belongs to the original only', async () => {
    const original = join(base, 'original');
    mkdirSync(original);
    const lock = await acquireProcessLock(join(original, 'lock'));
    const copy = join(base, 'copy');
    cpSync(original, copy, { recursive: true, preserveTimestamps: true });
    expect(await processLockHolder(join(copy, 'lock'))).toBeUndefined();
    const second = await acquireProcessLock(join(copy, 'lock'));
    expect(await processLockHolder(join(original, 'lock'))).toBe(process.pid);
    await second.release();
    await lock.release();
  });

  it('is held after its directory was moved, and where it is seen under another path', async () => {
    const original = join(base, 'original');
    mkdirSync(original);
    const lock = await acquireProcessLock(join(original, 'lock'));
    renameSync(original, join(base, 'moved'));
    await expect(acquireProcessLock(join(base, 'moved', 'lock'))).rejects.toThrow('is held by');
    renameSync(join(base, 'moved'), original);
    await lock.release();
    expect(readdirSync(original)).toEqual([]);
  });

  it('of an earlier version, which does not say where it lies, is respected', async () => {
    const path = join(base, 'lock');
    writeFileSync(path, content({}));
    await expect(acquireProcessLock(path)).rejects.toThrow(`running process ${process.pid}`);
    expect(await processLockHolder(path)).toBe(process.pid);
  });

  it('cut off by a crash is taken over', async () => {
    const path = join(base, 'lock');
    writeFileSync(path, '{"pid": 12');
    await (await acquireProcessLock(path)).release();
  });

  it('of another container is respected while it is renewed', async () => {
    const path = join(base, 'lock');
    writeFileSync(path, content({ scope: 'elsewhere', pid: 7 }));
    const renewal = setInterval(
      () => writeFileSync(path, content({ scope: 'elsewhere', pid: 7 })),
      50,
    );
    try {
      await expect(acquireProcessLock(path)).rejects.toThrow('held by the running process 7');
    } finally {
      clearInterval(renewal);
    }
  });
});

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountDirectory, AccountPool, parseAccounts } from './account-pool.js';

describe('parseAccounts', () => {
  it('reads a range', () => {
    expect(parseAccounts(' 200000-265535')).toEqual({ first: 200_000, last: 265_535 });
  });

  it.each(['', '200000', '0-10', '999-2000', '3000-2000', '1000-4294967295', 'a-b', '1-2-3'])(
    'refuses %j',
    (text) => {
      expect(() => parseAccounts(text)).toThrow('is no range of accounts');
    },
  );
});

describe('AccountPool', () => {
  let directory: string;
  const run = (name: string): string => join(directory, 'runs', name);
  const range = { first: 3000, last: 3002 };
  const pool = (): AccountPool => new AccountPool(directory, range, 0);

  const takeAll = async (accounts: AccountPool): Promise<number[]> =>
    Promise.all(['a', 'b', 'c'].map((name) => accounts.take(run(name))));

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'accounts-'));
    for (const name of ['a', 'b', 'c', 'd']) mkdirSync(run(name), { recursive: true });
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  it('never gives an account to two runs, whichever instance is asked', async () => {
    const [one, other] = [pool(), pool()];
    const taken = await Promise.all([one.take(run('a')), other.take(run('b')), one.take(run('c'))]);
    expect(taken.sort()).toEqual([3000, 3001, 3002]);
    await expect(other.take(run('d'))).rejects.toThrow('no account of 3000-3002 is free');
  });

  it('has an account again that was given back, by its own run only', async () => {
    const accounts = pool();
    const uids = await takeAll(accounts);
    accounts.release(uids[1] ?? 0, run('a'));
    await expect(accounts.take(run('d'))).rejects.toThrow();
    accounts.release(uids[1] ?? 0, run('b'));
    expect(await accounts.take(run('d'))).toBe(uids[1]);
  });

  it('frees the account of a run whose directory is gone', async () => {
    const accounts = pool();
    await takeAll(accounts);
    rmSync(run('c'), { recursive: true });
    await expect(accounts.take(run('d'))).rejects.toThrow(); // finds and frees it
    expect(await accounts.take(run('d'))).toBe(3002);
  });

  it('keeps the account of a run whose directory is gone while a process has it', async () => {
    const uid = process.getuid?.() ?? 0;
    const accounts = new AccountPool(directory, { first: uid, last: uid }, 0);
    await accounts.take(run('a'));
    rmSync(run('a'), { recursive: true });
    await expect(accounts.take(run('b'))).rejects.toThrow('is free');
    await expect(accounts.take(run('b'))).rejects.toThrow('is free');
    expect(await accounts.accountOf(run('a'))).toBe(uid);
  });

  it('is locked together with the name of its run, so that no lock is without one', async () => {
    const accounts = pool();
    const uid = await accounts.take(run('a'));
    expect(readlinkSync(join(directory, String(uid)))).toBe(run('a'));
    accounts.move(uid, run('a'), run('b'));
    expect(readlinkSync(join(directory, String(uid)))).toBe(run('b'));
    accounts.release(uid, run('b'));
    expect(readdirSync(directory)).toEqual(['runs']);
  });

  it('tells the account of a run, and frees all whose runs are gone from a directory', async () => {
    const accounts = pool();
    const uids = await takeAll(accounts);
    expect(await accounts.accountOf(run('b'))).toBe(uids[1]);
    expect(await accounts.accountOf(run('d'))).toBeUndefined();
    rmSync(run('a'), { recursive: true });
    rmSync(run('b'), { recursive: true });
    await accounts.freeAbandoned(join(directory, 'elsewhere'));
    expect(await accounts.accountOf(run('a'))).toBe(uids[0]);
    await accounts.freeAbandoned(join(directory, 'runs'));
    const found = ['a', 'b', 'c'].map((name) => accounts.accountOf(run(name)));
    expect(await Promise.all(found)).toEqual([undefined, undefined, uids[2]]);
  });

  it('leaves the freeing to the one who is at it, until that one must be dead', async () => {
    const accounts = pool();
    await takeAll(accounts);
    rmSync(run('a'), { recursive: true });
    const sweep = join(directory, 'sweep');
    symlinkSync('elsewhere 1 1', sweep);
    await expect(accounts.take(run('d'))).rejects.toThrow();
    await expect(accounts.take(run('d'))).rejects.toThrow();
    lutimesSync(sweep, 0, 0);
    await expect(accounts.take(run('d'))).rejects.toThrow(); // removes the old lock and frees
    expect(await accounts.take(run('d'))).toBe(3000);
  });

  it('does not wait for one who was killed while at it', async () => {
    const accounts = pool();
    await takeAll(accounts);
    rmSync(run('a'), { recursive: true });
    const { pid } = spawnSync('true');
    const namespace = readlinkSync('/proc/self/ns/pid');
    symlinkSync(`${namespace} ${pid} 1`, join(directory, 'sweep'));
    await accounts.freeAbandoned(join(directory, 'runs')); // removes the lock of the dead
    expect(await accounts.take(run('d'))).toBe(3000);
    expect(readdirSync(directory).sort()).toEqual(['3000', '3001', '3002', 'runs']);
  });

  it('waits for one whose processes it cannot see', async () => {
    const accounts = pool();
    await takeAll(accounts);
    rmSync(run('a'), { recursive: true });
    symlinkSync('pid:[1] 99999999 1', join(directory, 'sweep'));
    await accounts.freeAbandoned(join(directory, 'runs'));
    await accounts.freeAbandoned(join(directory, 'runs'));
    expect(await accounts.accountOf(run('a'))).toBe(3000);
  });

  it('leaves a lock to the run that has taken the account while its processes were looked for', async () => {
    const accounts = new AccountPool(directory, { first: 3000, last: 3000 }, 0);
    await accounts.take(run('a'));
    rmSync(run('a'), { recursive: true });
    const freed = accounts.freeAbandoned(join(directory, 'runs'));
    accounts.release(3000, run('a'));
    expect(await accounts.take(run('b'))).toBe(3000);
    await freed;
    expect(await accounts.accountOf(run('b'))).toBe(3000);
  });

  it('follows a run whose directory is moved', async () => {
    const accounts = pool();
    const uid = await accounts.take(run('a'));
    accounts.move(uid, run('a'), run('a.gone'));
    renameSync(run('a'), run('a.gone'));
    expect([await accounts.take(run('b')), await accounts.take(run('c'))]).not.toContain(uid);
    await expect(accounts.take(run('d'))).rejects.toThrow();
    accounts.release(uid, run('a.gone'));
    expect(await accounts.take(run('d'))).toBe(uid);
  });
});

describe('accountDirectory', () => {
  it('is one of our own that nobody else can write, or none', () => {
    const parent = mkdtempSync(join(tmpdir(), 'locks-'));
    const path = accountDirectory(['/nowhere', parent]);
    expect(path).toBe(join(parent, 'gridgate-accounts'));
    chmodSync(path, 0o777);
    expect(() => accountDirectory([parent])).toThrow('no place for the locks of accounts');
    rmSync(parent, { recursive: true });
  });
});

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
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

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'accounts-'));
    for (const name of ['a', 'b', 'c', 'd']) mkdirSync(run(name), { recursive: true });
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  it('never gives an account to two runs, whichever instance is asked', () => {
    const [one, other] = [pool(), pool()];
    const taken = [one.take(run('a')), other.take(run('b')), one.take(run('c'))];
    expect(taken.sort()).toEqual([3000, 3001, 3002]);
    expect(() => other.take(run('d'))).toThrow('no account of 3000-3002 is free');
  });

  it('has an account again that was given back, by its own run only', () => {
    const accounts = pool();
    const uids = ['a', 'b', 'c'].map((name) => accounts.take(run(name)));
    accounts.giveBack(uids[1] ?? 0, run('a'));
    expect(() => accounts.take(run('d'))).toThrow();
    accounts.giveBack(uids[1] ?? 0, run('b'));
    expect(accounts.take(run('d'))).toBe(uids[1]);
  });

  it('frees the account of a run whose directory is gone, and not one that is being written', () => {
    const accounts = pool();
    ['a', 'b', 'c'].forEach((name) => accounts.take(run(name)));
    writeFileSync(join(directory, '3001'), '');
    rmSync(run('c'), { recursive: true });
    expect(() => accounts.take(run('d'))).toThrow(); // finds and frees it
    expect(accounts.take(run('d'))).toBe(3002);
  });

  it('keeps the account of a run whose directory is gone while a process has it', () => {
    const uid = process.getuid?.() ?? 0;
    const accounts = new AccountPool(directory, { first: uid, last: uid }, 0);
    accounts.take(run('a'));
    rmSync(run('a'), { recursive: true });
    expect(() => accounts.take(run('b'))).toThrow('is free');
    expect(() => accounts.take(run('b'))).toThrow('is free');
    expect(accounts.accountOf(run('a'))).toBe(uid);
  });

  it('tells the account of a run, and frees all whose runs are gone from a directory', () => {
    const accounts = pool();
    const uids = ['a', 'b', 'c'].map((name) => accounts.take(run(name)));
    expect(accounts.accountOf(run('b'))).toBe(uids[1]);
    expect(accounts.accountOf(run('d'))).toBeUndefined();
    rmSync(run('a'), { recursive: true });
    rmSync(run('b'), { recursive: true });
    accounts.freeAbandoned(join(directory, 'elsewhere'));
    expect(accounts.accountOf(run('a'))).toBe(uids[0]);
    accounts.freeAbandoned(join(directory, 'runs'));
    expect(['a', 'b', 'c'].map((name) => accounts.accountOf(run(name)))).toEqual([
      undefined,
      undefined,
      uids[2],
    ]);
  });

  it('leaves the freeing to the one who is at it, until that one must be dead', () => {
    const accounts = pool();
    ['a', 'b', 'c'].forEach((name) => accounts.take(run(name)));
    rmSync(run('a'), { recursive: true });
    const sweep = join(directory, 'sweep');
    writeFileSync(sweep, '');
    expect(() => accounts.take(run('d'))).toThrow();
    expect(() => accounts.take(run('d'))).toThrow();
    utimesSync(sweep, 0, 0);
    expect(() => accounts.take(run('d'))).toThrow(); // removes the old lock
    expect(() => accounts.take(run('d'))).toThrow(); // frees
    expect(accounts.take(run('d'))).toBe(3000);
  });

  it('follows a run whose directory is moved', () => {
    const accounts = pool();
    const uid = accounts.take(run('a'));
    accounts.move(uid, run('a'), run('a.gone'));
    renameSync(run('a'), run('a.gone'));
    expect([accounts.take(run('b')), accounts.take(run('c'))]).not.toContain(uid);
    expect(() => accounts.take(run('d'))).toThrow();
    accounts.giveBack(uid, run('a.gone'));
    expect(accounts.take(run('d'))).toBe(uid);
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

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { JobRights } from './job-rights.js';
import { MachineSweeps } from './machine-sweeps.js';
import type { startProgram } from './start-program.js';

/** Looks end when the test says so; what is asked is kept. */
class Rights {
  readonly asked: string[] = [];
  private readonly looks: ((found: readonly number[]) => void)[] = [];

  async whoLeftSomething(uids: readonly number[]): Promise<readonly number[]> {
    this.asked.push(`look ${uids.join(' ')}`);
    return new Promise((resolve) => this.looks.push(resolve));
  }

  async sweepMachine(uid: number): Promise<boolean> {
    this.asked.push(`sweep ${uid}`);
    if (uid === 13) throw new Error('no process can be started');
    return Promise.resolve(uid !== 12);
  }

  async answer(...found: number[]): Promise<void> {
    this.looks.shift()?.(found);
    await setImmediate();
  }
}

describe('what accounts have left on the machine', () => {
  it('is looked for once for all that wait', async () => {
    const rights = new Rights();
    const sweeps = new MachineSweeps(rights as unknown as JobRights);
    const first = sweeps.sweep(1);
    await setImmediate(); // its walk has begun
    const others = [2, 3, 4].map((uid) => sweeps.sweep(uid));
    await rights.answer();
    expect(await first).toBe(true);
    await rights.answer();
    expect(await Promise.all(others)).toEqual([true, true, true]);
    // Who came when a walk had begun waits for the next: the walk may have been past what it left.
    expect(rights.asked).toEqual(['look 1', 'look 2 3 4']);
  });

  it('is removed for those who have left something', async () => {
    const rights = new Rights();
    const sweeps = new MachineSweeps(rights as unknown as JobRights);
    const all = Promise.allSettled([10, 11, 12, 13].map((uid) => sweeps.sweep(uid)));
    await setImmediate();
    await rights.answer(12, 13);
    expect(await all).toEqual([
      { status: 'fulfilled', value: true },
      { status: 'fulfilled', value: true },
      { status: 'fulfilled', value: false },
      { status: 'rejected', reason: new Error('no process can be started') },
    ]);
    expect(rights.asked).toEqual(['look 10 11 12 13', 'sweep 12', 'sweep 13']);
    const later = sweeps.sweep(14);
    await setImmediate();
    await rights.answer();
    expect(await later).toBe(true);
  });
});

describe('a look', () => {
  const NOBODYS = 3_999_999_999;
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'grid-look-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** A walk of a directory of its own: the machine's are large. */
  const rightsWith = (start?: typeof startProgram): JobRights =>
    new JobRights(() => [], join(directory, 'left'), [join(directory, "every body's")], start);

  it('finds who has something anywhere, and nobody else', async () => {
    const rights = rightsWith();
    const left = join(directory, "every body's/deep/left");
    mkdirSync(dirname(left), { recursive: true });
    writeFileSync(left, '');
    expect(await rights.whoLeftSomething([NOBODYS, NOBODYS - 1])).toEqual([]);
    // Of others where that is allowed: root may have objects of IPC besides.
    if (process.getuid?.() === 0) chownSync(left, 61_234, 0);
    const { uid } = statSync(left);
    expect(await rights.whoLeftSomething([NOBODYS, uid])).toEqual([uid]);
  });

  it('that fails leaves everybody to be swept', async () => {
    const broken = (): Promise<null> => Promise.resolve(null);
    expect(await rightsWith().whoLeftSomething([NOBODYS])).toEqual([]);
    expect(await rightsWith(broken).whoLeftSomething([NOBODYS])).toEqual([NOBODYS]);
  });
});

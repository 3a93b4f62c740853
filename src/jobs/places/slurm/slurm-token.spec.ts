import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jwtVerify } from 'jose';
import { SlurmTokens } from './slurm-token.js';

describe('SlurmTokens', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slurm-token-'));
  });
  afterEach(async () => rm(directory, { recursive: true }));

  it('signs for the user and renews before the end', async () => {
    const key = randomBytes(32);
    const keyFile = join(directory, 'key');
    await writeFile(keyFile, key);
    const time = { ms: Date.parse('2026-01-02T03:04:05Z') };
    const tokens = new SlurmTokens({ user: 'griduser', keyFile }, { now: () => time.ms });
    const first = (await tokens.get()) ?? '';
    const options = { algorithms: ['HS256'], currentDate: new Date(time.ms) };
    const { payload } = await jwtVerify(first, key, options);
    const now = time.ms / 1000;
    expect(payload).toEqual({ sun: 'griduser', iat: now - 30, exp: now + 600 });
    time.ms += 400_000;
    expect(await tokens.get()).toBe(first);
    time.ms += 100_000;
    expect(await tokens.get()).not.toBe(first);
  });

  it('gives a configured token as it is, and none when there is none', async () => {
    const clock = { now: () => 0 };
    expect(await new SlurmTokens({ user: 'u', token: 'abc' }, clock).get()).toBe('abc');
    expect(await new SlurmTokens({ user: 'u' }, clock).get()).toBeUndefined();
  });

  it('rejects when the key cannot be read', async () => {
    const settings = { user: 'u', keyFile: join(directory, 'none') };
    await expect(new SlurmTokens(settings, { now: () => 0 }).get()).rejects.toThrow('ENOENT');
  });
});

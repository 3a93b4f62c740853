import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt, jwtVerify } from 'jose';
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
    const tokens = new SlurmTokens({ keyFile }, { now: () => time.ms });
    const first = (await tokens.get('griduser')) ?? '';
    const options = { algorithms: ['HS256'], currentDate: new Date(time.ms) };
    const { payload } = await jwtVerify(first, key, options);
    const now = time.ms / 1000;
    expect(payload).toEqual({ sun: 'griduser', iat: now - 30, exp: now + 600 });
    time.ms += 400_000;
    expect(await tokens.get('griduser')).toBe(first);
    time.ms += 100_000;
    expect(await tokens.get('griduser')).not.toBe(first);
  });

  it('keeps a token for each account, and forgets only that of the account that was refused', async () => {
    const keyFile = join(directory, 'key');
    await writeFile(keyFile, randomBytes(32));
    const time = { ms: Date.parse('2026-01-02T03:04:05Z') };
    const tokens = new SlurmTokens({ keyFile }, { now: () => time.ms });
    const [jane, john] = [await tokens.get('jane'), await tokens.get('john')];
    expect(decodeJwt(jane ?? '')).toMatchObject({ sun: 'jane' });
    expect(decodeJwt(john ?? '')).toMatchObject({ sun: 'john' });
    time.ms += 1_000;
    tokens.forget('jane');
    expect(await tokens.get('jane')).not.toBe(jane);
    expect(await tokens.get('john')).toBe(john);
  });

  it('gives a configured token as it is, and none when there is none', async () => {
    const clock = { now: () => 0 };
    expect(await new SlurmTokens({ token: 'abc' }, clock).get('u')).toBe('abc');
    expect(await new SlurmTokens({}, clock).get('u')).toBeUndefined();
  });

  it('rejects when the key cannot be read', async () => {
    const tokens = new SlurmTokens({ keyFile: join(directory, 'none') }, { now: () => 0 });
    await expect(tokens.get('u')).rejects.toThrow('ENOENT');
  });
});

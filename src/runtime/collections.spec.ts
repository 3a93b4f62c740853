import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { Collections } from './collections.js';

describe('garbage collections of a stretch', () => {
  it('are those that began in it', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
    const collections = new Collections();
    collections.start();
    const before = performance.now();
    collect({ type: 'minor' });
    const within = await collections.since(before);
    const after = await collections.since(performance.now());
    collections.stop();
    expect(within).toBeGreaterThan(0);
    expect(after).toBe(0);
  });
});

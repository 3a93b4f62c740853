import { describe, expect, it } from '@jest/globals';
import { Readiness } from './readiness.js';

const good = (): Promise<undefined> => Promise.resolve(undefined);
const bad = (): Promise<string> => Promise.resolve('its disk is full');

describe('Readiness', () => {
  it.each([
    ['ready', good, good, { database: 'ok', home: 'ok' }],
    ['degraded', good, bad, { database: 'ok', home: 'its disk is full' }],
    ['not ready', bad, good, { database: 'its disk is full', home: 'ok' }],
    ['not ready', bad, bad, { database: 'its disk is full', home: 'its disk is full' }],
  ] as const)('is %s', async (status, needed, other, checks) => {
    const readiness = new Readiness();
    readiness.add('database', needed);
    readiness.add('home', other, { isNeeded: false });
    readiness.start();
    expect(await readiness.report()).toEqual({ status, checks });
  });

  it('is not ready before its start and when it is about to stop, whatever else it lacks', async () => {
    const readiness = new Readiness();
    readiness.add('home', bad, { isNeeded: false });
    expect((await readiness.report()).status).toBe('not ready');
    readiness.start();
    expect((await readiness.report()).status).toBe('degraded');
    readiness.drain();
    expect((await readiness.report()).status).toBe('not ready');
  });
});

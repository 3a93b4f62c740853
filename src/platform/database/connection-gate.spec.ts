import { describe, expect, it } from '@jest/globals';
import { ConnectionGate } from './connection-gate.js';

const LIMITS = { places: 3, maxWaiting: 4, longestWaitMs: 25_000, longestWaitInDoubtMs: 20 };

function gate(change: Partial<typeof LIMITS> = {}): ConnectionGate {
  return new ConnectionGate({ ...LIMITS, ...change });
}

describe('ConnectionGate', () => {
  it('lets in as many as there are places, the others in the order they came', async () => {
    const it = gate();
    for (let i = 0; i < 3; i += 1) await it.enter('statement');
    const order: number[] = [];
    const late = [1, 2].map((n) => it.enter('statement').then(() => order.push(n)));
    expect([it.busy, it.waiting, order]).toEqual([3, 2, []]);
    it.leave('statement');
    it.leave('statement');
    await Promise.all(late);
    expect([it.busy, it.waiting, order]).toEqual([3, 0, [1, 2]]);
  });

  it('leaves one place to statements, so that work inside a session gets on', async () => {
    const it = gate();
    await it.enter('session');
    await it.enter('session');
    const third = it.enter('session');
    expect(it.waiting).toBe(1);
    await it.enter('statement');
    it.leave('statement');
    expect([it.busy, it.waiting]).toEqual([2, 1]);
    it.leave('session');
    await third;
    expect([it.busy, it.waiting]).toEqual([2, 0]);
  });

  it('refuses at once when too many wait', async () => {
    const it = gate({ places: 1, maxWaiting: 1 });
    await it.enter('statement');
    const waiting = it.enter('statement');
    await expect(it.enter('statement')).rejects.toMatchObject({
      code: 'service.overloaded',
      retryAfterSeconds: 1,
    });
    it.leave('statement');
    await waiting;
  });

  it('refuses who has waited too long, and keeps no trace of it', async () => {
    const it = gate({ places: 1, longestWaitMs: 20 });
    await it.enter('statement');
    await expect(it.enter('statement')).rejects.toMatchObject({ code: 'service.overloaded' });
    expect(it.waiting).toBe(0);
    it.leave('statement');
    expect(it.busy).toBe(0);
  });

  it('refuses all who wait when the database does not answer, and later ones soon', async () => {
    const it = gate({ places: 1 });
    await it.enter('statement');
    const waiting = it.enter('session');
    it.doubt(true);
    await expect(waiting).rejects.toMatchObject({ code: 'service.unavailable' });
    await expect(it.enter('statement')).rejects.toMatchObject({ code: 'service.unavailable' });
    it.doubt(false);
    const patient = it.enter('statement');
    it.leave('statement');
    await patient;
  });
});

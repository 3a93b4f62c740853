import { RecentProofs } from './recent-proofs.js';

/** A proof counts from ten seconds before its time until 300 after it. */
const LIFE_MS = 310_000;
const STEP_MS = 10_000;

describe('proofs that an instance has seen', () => {
  it('are refused for as long as they count, whenever others come', () => {
    for (let first = 0; first <= 3 * LIFE_MS; first += STEP_MS) {
      const recent = new RecentProofs();
      for (let now = 0; now < first; now += STEP_MS) recent.use(`other ${now}`, now);
      expect(recent.use('one', first)).toBe(true);
      for (let now = first; now <= first + LIFE_MS; now += STEP_MS) {
        expect([first, now, recent.use(`other ${now}`, now)]).toEqual([first, now, true]);
        expect([first, now, recent.use('one', now)]).toEqual([first, now, false]);
      }
    }
  });

  it('are the last 100,000 at least, and 200,000 at most', () => {
    const recent = new RecentProofs();
    const others = (from: number, to: number) => {
      for (let other = from; other < to; other += 1) recent.use(`other ${other}`, 0);
    };
    expect(recent.use('one', 0)).toBe(true);
    others(0, 100_000);
    expect(recent.use('one', 0)).toBe(false);
    others(100_000, 200_000);
    expect(recent.use('one', 0)).toBe(true);
  });
});

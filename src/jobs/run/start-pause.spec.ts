import { describe, expect, it } from '@jest/globals';
import { StartPause } from './start-pause.js';

/** Seconds of the pause that a failed start at that time makes; the time when it is over. */
function pauseAt(pause: StartPause, nowMs: number): [number, number] {
  pause.failed(nowMs);
  let until = nowMs;
  while (!pause.isOver(until)) until += 500;
  return [(until - nowMs) / 1000, until];
}

describe('StartPause', () => {
  it('is over before anything has failed', () => {
    expect(new StartPause().isOver(0)).toBe(true);
  });

  it('grows with each failure after a pause, up to a minute', () => {
    const pause = new StartPause();
    const pauses: number[] = [];
    for (let now = 0; pauses.length < 9;) {
      const [seconds, until] = pauseAt(pause, now);
      pauses.push(seconds);
      now = until + 2_000;
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  it('does not grow by further failures of the same round', () => {
    const pause = new StartPause();
    for (let now = 0; now < 1_000; now += 10) pause.failed(now);
    expect(pause.isOver(999)).toBe(false);
    expect(pause.isOver(1_000)).toBe(true);
  });

  it('is short again after half a minute without a failure', () => {
    const pause = new StartPause();
    pause.failed(0);
    pause.failed(1_000);
    expect(pauseAt(pause, 3_000 + 30_000)[0]).toBe(4);
    expect(pauseAt(pause, 37_000 + 30_001)[0]).toBe(1);
  });
});

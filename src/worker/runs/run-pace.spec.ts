import { describe, expect, it } from '@jest/globals';
import { RunPace } from './run-pace.js';

const after = (pace: RunPace, seconds: number, runs = 100): RunPace => {
  for (let run = 0; run < runs; run += 1) pace.learn(seconds);
  return pace;
};

describe('RunPace', () => {
  it('takes what the places hold, and one ahead for two places, before anything is known', () => {
    const pace = new RunPace(2);
    expect([0, 1, 2, 3].map((taken) => pace.wanted(taken))).toEqual([3, 2, 0, 0]);
  });

  it('takes no run ahead of long ones', () => {
    const pace = after(new RunPace(2), 3_600);
    expect([0, 1, 2].map((taken) => pace.wanted(taken))).toEqual([2, 1, 0]);
  });

  it('takes short ones ahead, at most 64, when half of those are used up', () => {
    const pace = after(new RunPace(4), 0);
    expect([0, 34, 35, 36, 68].map((taken) => pace.wanted(taken))).toEqual([68, 34, 33, 0, 0]);
  });

  it('stops to run ahead when the runs of now are long', () => {
    const pace = after(new RunPace(4), 0);
    pace.slowDownTo(5);
    expect(pace.wanted(4)).toBe(0);
    pace.slowDownTo(1);
    expect(pace.wanted(4)).toBe(0);
  });
});

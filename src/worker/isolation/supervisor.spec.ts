import { cpuSecondsOf } from './supervisor.js';

describe('cpuSecondsOf', () => {
  it('adds user and system time of the children', () => {
    expect(cpuSecondsOf('1m1.50s 0m0.25s')).toBe(61.75);
    expect(cpuSecondsOf('')).toBe(0);
  });
});

import { cpuSecondsOf } from './supervisor.js';

describe('cpuSecondsOf', () => {
  it('adds user and system time of the children', () => {
    expect(cpuSecondsOf('0m0.10s 0m0.20s\n1m1.50s 0m0.25s\n')).toBe(61.75);
    expect(cpuSecondsOf('')).toBe(0);
  });
});

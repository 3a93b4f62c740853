import { pauseAfter, TRIED_FOR_MS } from './retry.js';

const seconds = (attempts: number, wish?: number): number =>
  Math.round(pauseAfter(attempts, wish, 0.5) / 1_000);

describe('pauses between attempts', () => {
  it('grow up to eight hours', () => {
    const pauses = Array.from({ length: 11 }, (_, index) => seconds(index + 1));
    expect(pauses).toEqual([5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 28800, 28800]);
  });

  it('leave room for seventeen attempts in three days', () => {
    let [time, attempts] = [0, 0];
    for (; time < TRIED_FOR_MS; attempts += 1) time += pauseAfter(attempts + 1, 0, 0.5);
    expect([TRIED_FOR_MS / 86_400_000, attempts]).toEqual([3, 17]);
  });

  it('vary by a tenth both ways', () => {
    expect([pauseAfter(1, 0, 0), pauseAfter(1, 0, 1)]).toEqual([4_500, 5_500]);
  });

  it('are longer when the receiver asks for it, up to an hour', () => {
    expect([seconds(1, 60), seconds(1, 1), seconds(1, 1e9), seconds(9, 60)]).toEqual([
      60, 5, 3600, 28800,
    ]);
  });
});

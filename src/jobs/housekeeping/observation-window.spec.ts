import { ObservationWindow } from './observation-window.js';

describe('ObservationWindow', () => {
  it('grows with looks that follow each other, and begins anew after a gap', () => {
    const watch = new ObservationWindow(30);
    expect([0, 10, 40, 70, 101, 110].map((now) => watch.look(now))).toEqual([0, 10, 40, 70, 0, 9]);
  });
});

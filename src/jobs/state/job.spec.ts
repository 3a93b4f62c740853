import { idRanges } from './job.js';

describe('ids for the audit trail', () => {
  it.each([
    [[], []],
    [[7], ['7']],
    [[3, 1, 2], ['1-3']],
    [
      [5, 1, 2, 5, 9],
      ['1-2', '5', '9'],
    ],
    [[9007199254740993n, 9007199254740992n], ['9007199254740992-9007199254740993']],
  ])('%j', (jids, ranges) => {
    expect(idRanges(jids)).toEqual(ranges);
  });
});

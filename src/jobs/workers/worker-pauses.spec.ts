import { describe, expect, it } from '@jest/globals';
import { afterBadRun, mostAfter, type WorkerRecord } from './worker-pauses.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const NONE: WorkerRecord = { badRuns: [], pauses: 0, pausedUntil: null };

/** The record after runs of these owners, each of them as soon as the worker may have one. */
function after(owners: string[]): { record: WorkerRecord; pauses: number[] } {
  let record = NONE;
  let now = NOW;
  const pauses: number[] = [];
  for (const owner of owners) {
    now = Math.max(now, record.pausedUntil?.getTime() ?? 0);
    record = afterBadRun(record, owner, new Date(now));
    pauses.push(Math.max(0, (record.pausedUntil?.getTime() ?? 0) - now) / 1000);
  }
  return { record, pauses };
}

describe('afterBadRun', () => {
  it.each<[string, string[], number[]]>([
    ['four', ['a', 'b', 'a', ''], [0, 0, 0, 0]],
    ['any number of one owner', Array<string>(12).fill('a'), Array<number>(12).fill(0)],
    ['two owners', [...'abababababab'], [0, 0, 0, 0, 0, 10, 20, 40, 80, 160, 300, 300]],
    ['no owner', ['', '', '', '', '', ''], [0, 0, 0, 0, 0, 10]],
    ['one owner, and one that the worker lost', ['a', 'a', 'a', 'a', '', 'a'], [0, 0, 0, 0, 0, 10]],
  ])('pauses after %s', (_, owners, seconds) => {
    expect(after(owners).pauses).toEqual(seconds);
  });

  it('counts what fails during a pause as of the round that made it', () => {
    const paused = { ...after([...'ababab']).record };
    const next = afterBadRun(paused, 'b', new Date((paused.pausedUntil?.getTime() ?? 0) - 1));
    expect(next).toEqual({ ...paused, badRuns: [...'ababb'] });
  });
});

describe('mostAfter', () => {
  const full = { most: 8, holding: [] };
  const later = new Date(NOW + 1);
  it.each<[string, Parameters<typeof mostAfter>[0], Partial<WorkerRecord>, number]>([
    ['as many as it would take', { ...full, holding: ['1.1'] }, {}, 8],
    ['one', full, { pauses: 1 }, 1],
    ['one after the pause', full, { pauses: 3, pausedUntil: new Date(NOW) }, 1],
    ['none during it', full, { pauses: 3, pausedUntil: later }, 0],
    ['none beside another one', { ...full, holding: ['1.1'] }, { pauses: 1 }, 0],
    ['none when it would take none', { most: 0, holding: [] }, { pauses: 1 }, 0],
  ])('is %s', (_, request, record, most) => {
    expect(mostAfter(request, { ...NONE, ...record }, new Date(NOW))).toBe(most);
  });
});

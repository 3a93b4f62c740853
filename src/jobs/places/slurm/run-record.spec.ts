import { describe, expect, it } from '@jest/globals';
import { parseExitRecord, parseStartRecord } from './run-record.js';

const WHOLE = [
  'status=3',
  'why=',
  'begin=1795209154.250000000',
  'end=1795209156.500000000',
  'host=node-7.example.org',
  'batch=42',
  'cpu=0m0.010000s 0m0.000000s 1m2.500000s 0m0.300000s ',
].join('\n');

describe('parseExitRecord', () => {
  it('reads status, times, host and CPU of the children', () => {
    expect(parseExitRecord(WHOLE)).toEqual({
      status: 3,
      reason: '',
      begunAt: new Date(1_795_209_154_250),
      endedAt: new Date(1_795_209_156_500),
      host: 'node-7.example.org',
      batchId: '42',
      cpuSeconds: 62.8,
    });
  });

  it.each([
    ['25600 4096', 104_857_600],
    [' 4096', undefined],
    ['25600 ', undefined],
    ['-1 4096', undefined],
    ['0 4096', undefined],
  ])('reads memory in pages: %s', (text, bytes) => {
    expect(parseExitRecord(`${WHOLE}\nrss=${text}`)?.maxRssBytes).toBe(bytes);
  });

  it.each([
    ['23212f6e6f0d0a', '"#!/no\\r"'],
    ['', undefined],
    ['23212', undefined],
    ['#!/no', undefined],
    ['23'.repeat(257), undefined],
  ])('shows the first line of a script that was not started: %s', (head, firstLine) => {
    expect(parseExitRecord(`${WHOLE}\nhead=${head}`)?.firstLine).toBe(firstLine);
  });

  it.each([
    ['half a record', 'status=3\nwhy='],
    ['nothing', ''],
    ['a status that is no number', WHOLE.replace('status=3', 'status=x')],
    ['an unknown reason', WHOLE.replace('why=', 'why=because')],
    ['a time that is no time', WHOLE.replace('end=1795209156.5', 'end=soon')],
  ])('refuses %s', (_name, text) => {
    expect(parseExitRecord(text)).toBeUndefined();
  });

  it('believes no end before the begin and no host that is none', () => {
    const text = WHOLE.replace('end=1795209156', 'end=1795209000').replace('node-7', '<b>');
    expect(parseExitRecord(text)).toMatchObject({
      host: '',
      endedAt: new Date(1_795_209_154_250),
    });
  });
});

describe('parseStartRecord', () => {
  it('reads a date without fractions, as some systems write it', () => {
    expect(parseStartRecord('begin=1795209154.N\nhost=a\nbatch=')).toBeUndefined();
    expect(parseStartRecord('begin=1795209154\nhost=a\nbatch=')).toEqual({
      begunAt: new Date(1_795_209_154_000),
      host: 'a',
      batchId: '',
    });
  });
});

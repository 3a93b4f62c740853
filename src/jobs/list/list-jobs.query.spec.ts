import 'reflect-metadata';
import { QueryValues, readQuery } from '#src/http/index.js';
import { Problem } from '#src/kernel/index.js';
import { jobAttribute } from '../state/job-attributes.js';
import {
  groupsOf,
  JobSummaryQuery,
  ListJobsQuery,
  wantedOf,
  writeCursor,
} from './list-jobs.query.js';

const read = (search: string) =>
  wantedOf(readQuery(ListJobsQuery, new QueryValues(search)), 10_000);

function violations(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error.violations;
    throw error;
  }
  return 'nothing thrown';
}

describe('query of GET /jobs', () => {
  it('has the defaults of the interface', () => {
    expect(read('')).toEqual({
      allOwners: false,
      filters: [],
      maxJobs: 100,
      startJob: 0,
      sort: [{ attribute: jobAttribute('jid'), descending: true }],
    });
  });

  it('reads filters under both spellings and joins their values', () => {
    const { filters } = read('status=Done&Status=Failed&site=A&killed=true&jid=7&priority=3');
    expect(filters.map(({ attribute, values }) => [attribute.wire, values])).toEqual([
      ['status', ['Done', 'Failed']],
      ['site', ['A']],
      ['killed', [true]],
      ['jid', ['7']],
      ['priority', [3]],
    ]);
  });

  it('clamps maxJobs', () => {
    expect(read('maxJobs=999999').maxJobs).toBe(10_000);
  });

  it.each([
    ['maxJobs=0', 'maxJobs', 'must be at least 1'],
    ['maxJobs=x', 'maxJobs', 'is not a whole number'],
    ['startJob=-1', 'startJob', 'must be at least 0'],
    ['allOwners=maybe', 'allOwners', 'is not one of true, false, 1, 0, yes, no'],
    ['jid=abc', 'jid', 'is not a job id'],
    ['priority=high', 'priority', 'is not a whole number'],
    ['killed=7', 'killed', 'is not one of true, false, 1, 0, yes, no'],
    ['sort=colour', 'sort', 'colour is not an attribute of jobs'],
    ['sort=jid,-jid', 'sort', 'jid is given twice'],
    ['fromDate=yesterday', 'fromDate', 'is not an ISO 8601 date or time'],
    ['toDate=2026-13-01', 'toDate', 'is not an ISO 8601 date or time'],
    ['toDate=0000-01-01', 'toDate', 'is not an ISO 8601 date or time'],
    ['toDate=2026-02-30', 'toDate', 'is not an ISO 8601 date or time'],
    ['lastUpdate=2026-02-29', 'lastUpdate', 'is not an ISO 8601 date or time'],
    ['fromDate=2026-04-31T12:00Z', 'fromDate', 'is not an ISO 8601 date or time'],
    ['fromDate=2026-01-02T25:00Z', 'fromDate', 'is not an ISO 8601 date or time'],
    ['fromDate=2026-01-02T03:04:05%2B99:99', 'fromDate', 'is not an ISO 8601 date or time'],
    ['after=!!', 'after', 'is not a cursor of this list'],
    ['after=e30', 'after', 'is not a cursor of this list'],
    ['maxJobs=1&maxJobs=2', 'maxJobs', 'may be given only once'],
  ])('refuses %s', (search, field, problem) => {
    expect(violations(() => read(search))).toEqual([{ field, problem }]);
  });

  it.each(['Stauts=Done', 'status[]=Done', 'STATUS=Done'])(
    'names the unknown key of %s',
    (search) => {
      const field = search.slice(0, search.indexOf('='));
      expect(violations(() => read(search))).toEqual([{ field, problem: 'is not known here' }]);
    },
  );

  it('reads several sort keys and makes the order unique', () => {
    expect(
      read('sort=-priority,lastUpdate').sort.map(({ attribute, descending }) => [
        attribute.wire,
        descending,
      ]),
    ).toEqual([
      ['priority', true],
      ['lastUpdate', false],
      ['jid', false],
    ]);
  });

  it.each([
    ['', true],
    ['  ', true],
    ['jid', true],
    ['-jid, Status ,+LastUpdateTime', true],
    [' -priority\t', true],
    ['colour', false],
    ['jid,', false],
    [',jid', false],
    ['--jid', false],
    ['- jid', false],
    ['jid status', false],
  ])('says of the sort %j in the OpenAPI document what it is: %s', (text, isOne) => {
    const { pattern } = Reflect.getMetadata(
      'swagger/apiModelProperties',
      ListJobsQuery.prototype,
      'sort',
    ) as { pattern: string };
    expect(new RegExp(pattern, 'u').test(text)).toBe(isOne);
    const sorted = (): unknown => read(`sort=${encodeURIComponent(text)}`);
    if (isOne) expect(sorted).not.toThrow();
    else expect(sorted).toThrow(Problem);
  });

  it('takes a cursor of the same sort only', () => {
    const { sort } = read('');
    const cursor = writeCursor(sort, ['42']);
    expect(read(`after=${cursor}`).after).toEqual(['42']);
    expect(violations(() => read(`after=${cursor}&sort=jid`))).toEqual([
      { field: 'after', problem: 'belongs to a list with another sort' },
    ]);
    expect(violations(() => read(`after=${cursor}&startJob=5`))).toEqual([
      { field: 'startJob', problem: 'cannot be combined with after' },
    ]);
  });

  it.each([
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05%2B02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
  ])('reads the time %s', (text, expected) => {
    expect(read(`fromDate=${text}`).fromDate?.toISOString()).toBe(expected);
  });

  it('groups the summary by Status unless told otherwise', () => {
    const groups = (search: string) =>
      groupsOf(readQuery(JobSummaryQuery, new QueryValues(search))).map(
        ({ attribute }) => attribute.wire,
      );
    expect(groups('')).toEqual(['status']);
    expect(groups('group=Site&group=status')).toEqual(['site', 'status']);
    expect(violations(() => groups('group=colour'))).toEqual([
      { field: 'group', problem: 'colour is not an attribute of jobs' },
    ]);
  });
});

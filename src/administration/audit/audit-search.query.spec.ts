import { describe, expect, it } from '@jest/globals';
import { Problem } from '#src/kernel/index.js';
import { QueryValues, readQuery } from '#src/http/index.js';
import { AuditSearchQuery, searchOf } from './audit-search.query.js';

const read = (text: string): unknown =>
  searchOf(readQuery(AuditSearchQuery, new QueryValues(text)));
const ID = '019ab0c2-7a5e-7000-9d53-3d5f0c3f6a11';

function faultOf(text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    return error instanceof Problem ? error.violations : error;
  }
}

describe('the query of the audit trail', () => {
  it('wants the newest hundred, and one to see that there are more', () => {
    expect(read('')).toEqual({ limit: 101 });
    expect(read('maxEvents=5000')).toEqual({ limit: 1001 });
  });

  it('takes every filter', () => {
    const text =
      'event=job.held&event=consent.*&user=alice&user=bob&group=grid_user&outcome=refused&since=2026-01-02' +
      `&until=2026-01-03T04:05:06%2B01:00&where=jids=7&where=path=a=b&before=${ID}&maxEvents=1`;
    expect(read(text)).toEqual({
      events: ['job.held', 'consent.given', 'consent.denied', 'consent.withdrawn'],
      users: ['alice', 'bob'],
      groups: ['grid_user'],
      outcome: 'refused',
      since: new Date('2026-01-02T00:00:00Z'),
      until: new Date('2026-01-03T03:05:06Z'),
      where: [
        ['jids', '7'],
        ['path', 'a=b'],
      ],
      before: ID,
      limit: 2,
    });
  });

  it.each([
    ['event=job.done', 'event', 'has "job.done", which is no event'],
    ['event=jobs.*', 'event', 'has "jobs.*", which is no event'],
    ['where=jids', 'where', 'has "jids": key=value is expected'],
    ['where==7', 'where', 'has "=7": key=value is expected'],
    ['outcome=failed', 'outcome', 'is not one of done, refused'],
    ['since=soon', 'since', 'is not an ISO 8601 date or time'],
    ['until=2026-02-30', 'until', 'is not an ISO 8601 date or time'],
    ['before=7', 'before', 'is not a cursor of this list'],
    ['maxEvents=0', 'maxEvents', 'must be at least 1'],
    ['maxEvents=x', 'maxEvents', 'is not a whole number'],
    [`user=u${'&user=x'.repeat(50)}`, 'user', 'has more than 50 values'],
  ])('%s is refused', (text, field, problem) => {
    expect(faultOf(text)).toEqual([{ field, problem }]);
  });
});

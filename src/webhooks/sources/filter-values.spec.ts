import { JobSelectionQuery } from '#src/jobs/index.js';
import { readFilter } from './filter-values.js';

const read = (filter: object): JobSelectionQuery => readFilter(JobSelectionQuery, filter);
const filtersOf = (filter: object): unknown =>
  read(filter).filters.map(({ attribute, values }) => [attribute.wire, values]);

describe('filters of webhooks', () => {
  it('are those of lists', () => {
    expect(filtersOf({ status: ['Done', 'Failed'], Site: 'X', priority: 3 })).toEqual([
      ['status', ['Done', 'Failed']],
      ['site', ['X']],
      ['priority', [3]],
    ]);
    expect(read({}).allOwners).toBe(false);
    expect(read({ allOwners: true }).allOwners).toBe(true);
    expect(read({ fromDate: '2026-01-02' }).fromDate).toEqual(new Date('2026-01-02'));
  });

  it.each([
    [{ colour: 'red' }, 'filter.colour: is not known here'],
    [{ status: 'Sleeping' }, 'filter.status: '],
    [{ status: { not: 'Done' } }, 'filter.status: is not a text, number, boolean or list of them'],
    [{ status: [['Done']] }, 'filter.status: is not a text, number, boolean or list of them'],
    [{ status: null }, 'filter.status: is not a text, number, boolean or list of them'],
    [{ allOwners: 'perhaps' }, 'filter.allOwners: is not one of true, false, 1, 0, yes, no'],
    [{ site: 'a\0b' }, 'filter.site: contains a NUL character'],
  ])('%j is refused', (filter, detail) => {
    expect(() => read(filter)).toThrow(detail);
  });
});

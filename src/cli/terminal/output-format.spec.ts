import { fieldsOf } from './output-format.js';

describe('lines of one thing', () => {
  it('name members by their path and leave out what is empty', () => {
    const value = {
      name: 'alice',
      disabled: false,
      groups: ['grid_user', 'grid_mon'],
      aliases: [],
      note: '',
      since: null,
      limits: { jobs: 0, tags: [], none: {} },
      odd: ['a b'],
    };
    expect(fieldsOf(value)).toEqual([
      'name: alice',
      'disabled: false',
      'groups: grid_user grid_mon',
      'limits.jobs: 0',
      'odd: ["a b"]',
    ]);
  });
});

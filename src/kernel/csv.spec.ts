import { describe, expect, it } from '@jest/globals';
import { csvText } from './csv.js';

describe('csvText', () => {
  it('quotes what would be more cells, and leaves out what is not known', () => {
    const rows = [
      ['a,b', 'c"d', 'e\r\nf', -1, null, undefined],
      ['=1', '+1', '-1', 2.5, true, ''],
    ];
    expect(csvText(['h', 'i'], rows)).toBe(
      'h,i\r\n"a,b","c""d","e\r\nf",-1,,\r\n\'=1,\'+1,\'-1,2.5,true,\r\n',
    );
  });
});

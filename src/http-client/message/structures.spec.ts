import { inspect } from 'node:util';
import { CaseInsensitiveDict } from './structures.js';

describe('CaseInsensitiveDict', () => {
  it('finds names in any case and remembers the last spelling in the first place', () => {
    const dict = new CaseInsensitiveDict({ Accept: 'a', 'X-One': '1' });
    dict.set('ACCEPT', 'b');
    expect([...dict]).toEqual([
      ['ACCEPT', 'b'],
      ['X-One', '1'],
    ]);
    expect([dict.get('accept'), dict.has('x-ONE'), dict.get('none'), dict.size]).toEqual([
      'b',
      true,
      undefined,
      2,
    ]);
  });

  it('works like a plain object', () => {
    const dict = new CaseInsensitiveDict() as CaseInsensitiveDict & Record<string, string>;
    dict['Content-Type'] = 'text/plain';
    expect(dict['content-type']).toBe('text/plain');
    expect('CONTENT-TYPE' in dict).toBe(true);
    expect({ ...dict }).toEqual({ 'Content-Type': 'text/plain' });
    expect(JSON.stringify(dict)).toBe('{"Content-Type":"text/plain"}');
    delete dict['content-TYPE'];
    expect(Object.keys(dict)).toEqual([]);
  });

  it('copies independently', () => {
    const dict = new CaseInsensitiveDict([['a', '1']]);
    dict.copy().set('a', '2').delete('a');
    expect(dict.toJSON()).toEqual({ a: '1' });
  });

  it('does not show credentials when it is printed', () => {
    const dict = new CaseInsensitiveDict({ Authorization: 'Bearer secret', Cookie: 's=1', A: 'b' });
    expect(inspect(dict)).toBe("{ Authorization: '***', Cookie: '***', A: 'b' }");
  });
});

import { jsonText, nameText, printable, printableLines, safeFileName, table } from './output.js';

const HOSTILE = [
  ['C0', 'a\u0007b\tc\nd\re', 'a?b?c?d?e'],
  ['an escape sequence', '\u001b[31mred\u001b[0m\u001b]0;title\u0007', '?[31mred?[0m?]0;title?'],
  ['DEL and C1', '\u007f\u0085\u009b31m\u009d', '???31m?'],
  ['direction', 'a\u202etxt.exe\u202c\u2066\u2069\u200e\u200f\u061c', 'a?txt.exe??????'],
  ['line separators', 'a\u2028b\u2029c', 'a?b?c'],
] as const;

describe('text of others on a terminal', () => {
  it.each(HOSTILE)('loses %s', (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
    expect(JSON.parse(jsonText({ text }))).toEqual({ text });
    expect(printable(jsonText({ text }))).toBe(jsonText({ text }));
  });

  it.each(['', 'Grüße', '日本語', '👩‍👩‍👧', 'a b', 'می‌خواهم', '\ud800'])('keeps %j', (text) => {
    expect(printable(text)).toBe(text);
    expect(safeFileName(text)).toBe(text);
  });

  it('keeps the columns of a table and the lines of JSON', () => {
    const [, first = '', second = ''] = table(
      ['NAME', 'X'],
      [
        ['\u001b[2J', 'y'],
        ['abcd', 'z'],
      ],
    );
    expect([first, second].map(printable)).toEqual(['?[2J  y', 'abcd  z']);
    expect(jsonText({ a: '\n\u009b' }, 2)).toBe('{\n  "a": "\\n\\u009b"\n}');
  });

  it('is written out in file names', () => {
    expect(safeFileName('a\u001b[2Jb\u202ec')).toBe('a%1B[2Jb%E2%80%AEc');
  });
});

describe('nameText', () => {
  it('keeps a name for programs, and tells its characters apart at a terminal', () => {
    const [first, second] = ['a\u200f\u001b', 'a\u2028\u001b'];
    expect([first, second].map((name) => nameText(name, false))).toEqual([first, second]);
    expect([first, second].map((name) => nameText(name, true))).toEqual([
      'a\\u200f\\u001b',
      'a\\u2028\\u001b',
    ]);
  });
});

describe('printableLines', () => {
  it('leaves nothing that acts on a terminal but tabs and ends of lines', () => {
    const text = 'a\tb\r\nc\u001b[2Jd\re\n';
    expect(printableLines(text, true)).toBe('a\tb\nc?[2Jd?e\n');
    expect(printableLines(text, false)).toBe(text);
  });
});

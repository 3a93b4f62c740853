import { mayColour, painted, refuseColour } from './colour.js';

const terminal = { isTTY: true };

describe('colour', () => {
  it.each([
    ['a terminal', terminal, {}, true],
    ['a pipe', {}, {}, false],
    ['NO_COLOR', terminal, { NO_COLOR: '1' }, false],
    ['an empty NO_COLOR', terminal, { NO_COLOR: '' }, true],
    ['FORCE_COLOR at a pipe', {}, { FORCE_COLOR: '1' }, true],
    ['FORCE_COLOR=0', terminal, { FORCE_COLOR: '0' }, false],
    ['both, as Node takes them', {}, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
    ['a dumb terminal', terminal, { TERM: 'dumb' }, false],
  ])('%s', (_what, stream, environment, expected) => {
    expect(mayColour(stream, environment)).toBe(expected);
  });

  it('is given to states only, and ends with them', () => {
    expect(painted('Done  ')).toBe('\u001b[32mDone  \u001b[0m');
    expect([painted('constructor'), painted('hello')]).toEqual(['constructor', 'hello']);
  });

  it('is refused by --no-color whatever else is said', () => {
    refuseColour();
    expect(mayColour(terminal, { FORCE_COLOR: '1' })).toBe(false);
  });
});

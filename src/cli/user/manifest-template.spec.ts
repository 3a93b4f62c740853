import { filled, placesOf, settingsOf } from './manifest-template.js';

describe('a template', () => {
  const template = {
    Executable: '{{program}}',
    Arguments: '-n {{n}} {{n}}',
    Priority: '{{n}}',
    Sites: '{{sites}}',
    Deep: { list: ['{{program}} x', 3] },
  };

  it('is filled in its texts, and takes values alone as JSON', () => {
    const left = new Set<string>();
    const settings = settingsOf(['program=run"}.sh', 'n=5', 'sites=["A", "B"]', 'unused=']);
    expect(filled(template, settings, left)).toEqual({
      Executable: 'run"}.sh',
      Arguments: '-n 5 5',
      Priority: 5,
      Sites: ['A', 'B'],
      Deep: { list: ['run"}.sh x', 3] },
    });
    expect([...left]).toEqual([]);
  });

  it.each([
    ['5', 5],
    ['-1.5', -1.5],
    ['9007199254740993', 9007199254740993n],
    ['true', true],
    ['4.10', '4.10'],
    ['4.0', '4.0'],
    ['1e3', '1e3'],
    ['0123', '0123'],
    ['[1.0, 0.10, 2]', ['1.0', '0.10', 2]],
  ])('takes %s alone as %p', (text, value) => {
    const made = filled({ Key: '{{key}}' }, settingsOf([`key=${text}`]), new Set());
    expect(made).toEqual({ Key: value });
  });

  it('names the places that are left', () => {
    expect([...placesOf(template)]).toEqual(['program', 'n', 'sites']);
  });

  it('does not fill what a value brings along', () => {
    const settings = settingsOf(['program={{n}}', 'n=1', 'sites=[', '__proto__=x']);
    const made = filled(template, settings, new Set()) as typeof template;
    expect([made.Executable, made.Sites]).toEqual(['{{n}}', '[']);
  });

  it.each(['n', '=5', '1=2', 'a b=c'])('refuses --set %s', (word) => {
    expect(() => settingsOf([word])).toThrow(`--set ${word} is not name=value`);
  });
});

import { exactDisposition, partNames } from './form-names.js';

const bytes = (text: string): string => Buffer.from(text).toString('latin1');
const file = (parameter: string): unknown => partNames(bytes(`form-data; name="f"; ${parameter}`));

describe('partNames', () => {
  it.each([
    ['filename="final %22v2%22.dat"', 'final "v2".dat'],
    ['filename="final \\"v2\\".dat"', 'final "v2".dat'],
    ['filename="a%0D%0Ab"', 'a\r\nb'],
    ['filename="100%.txt"', '100%.txt'],
    ['filename="%0d%0a%2F%41%25"', '%0d%0a%2F%41%25'],
    ['filename="a\\\\b"', 'a\\b'],
    ['filename="C:\\x"', 'C:\\x'],
    ['filename="日本 ä.dat"', '日本 ä.dat'],
    ['filename="a; name=b; filename=c"', 'a; name=b; filename=c'],
    ['filename*=UTF-8\'\'a%22%2522; filename="b"', 'a"%22'],
    ['filename="b"; filename*=utf-8\'en\'%e2%82%ac%20x', '€ x'],
    ['filename=plain', 'plain'],
    ['FileName="x"', 'x'],
    ['filename=""', ''],
    ['x="y"', undefined],
  ])('of %s is %p', (parameter, name) => {
    expect(file(parameter)).toEqual({ name: 'f', file: name });
  });

  it.each([
    [
      'form-data; name="f"; filename="\xff"',
      'The filename of a part of the form is not valid UTF-8',
    ],
    ['form-data; name="\xc3"', 'The name of a part of the form is not valid UTF-8'],
    [
      "form-data; name=f; filename*=utf-8''%ff",
      'The filename of a part of the form is not valid UTF-8',
    ],
    [
      "form-data; name=f; filename*=latin1''a",
      'The filename of a part of the form is not valid UTF-8',
    ],
    ['form-data; filename="x"', 'A part of the form has no name'],
    ['attachment; name="f"', 'A part of the form has no name'],
    ['', 'A part of the form has no name'],
  ])('refuses %p', (disposition, fault) => {
    expect(partNames(disposition)).toEqual({ fault });
  });

  it.each(['a"b', "it's.dat", '100%.txt', 'a%22b', 'ä;(b)*~!=.x', ''])('reads %p back', (name) => {
    const names = { name, file: name };
    expect(partNames(exactDisposition(names))).toEqual(names);
  });
});

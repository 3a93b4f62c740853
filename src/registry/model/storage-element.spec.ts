import {
  addressFaults,
  addressOf,
  audienceOf,
  pathAt,
  type AddressedElement,
} from './storage-element.js';

const element = (more: Partial<AddressedElement> = {}): AddressedElement => ({
  ...{ name: 'SE', url: 'https://xrd.example.org:1094/vo', kind: 'webdav', vos: ['vo'] },
  ...more,
});

describe('a storage element', () => {
  it.each<[string, Partial<AddressedElement>, string, string | undefined]>([
    ['its directory', {}, '/vo/a/f', 'https://xrd.example.org:1094/vo/a/f'],
    ['a slash at the end', { url: 'https://x/vo/' }, '/vo/a/f', 'https://x/vo/a/f'],
    ['all that it has', { base: '/' }, '/vo/f', 'https://xrd.example.org:1094/vo/vo/f'],
    ['a directory below', { base: '/vo/data' }, '/vo/data/f', 'https://xrd.example.org:1094/vo/f'],
    ['beside that directory', { base: '/vo/data' }, '/vo/data2/f', undefined],
    ['the directory itself', {}, '/vo', undefined],
    ['several organisations', { vos: ['a', 'b'], url: 'https://x' }, '/b/f', 'https://x/b/f'],
    ['another organisation', {}, '/vo2/f', undefined],
    ['another organisation', { vos: ['a', 'b'] }, '/c/f', undefined],
    ['names', {}, "/vo/ü %2F/'+?#", "https://xrd.example.org:1094/vo/%C3%BC%20%252F/'%2B%3F%23"],
  ])('has for %s (%j, %s) the address %s', (_what, more, path, address) => {
    expect(addressOf(element(more), path)).toBe(address);
    if (address !== undefined) expect(pathAt(element(more), address)).toBe(path);
  });

  it.each([
    'https://xrd.example.org:1094/vo',
    'https://xrd.example.org:1094/vo/',
    'https://xrd.example.org:1094/vo2/f',
    'https://xrd.example.org:1094/vo//f',
    'https://xrd.example.org:1094/vo/f/',
    'https://xrd.example.org:1094/vo/../f',
    'https://xrd.example.org:1094/vo/%2e%2e/f',
    'https://xrd.example.org:1094/vo/a%2Ff',
    'https://xrd.example.org:1094/vo/a%zz',
    'https://xrd.example.org:1094/vo/f?x=1',
    'https://xrd.example.org:1094/vo/f#x',
    'https://xrd.example.org:1095/vo/f',
    'https://XRD.example.org:1094/vo/f',
    'http://xrd.example.org:1094/vo/f',
    '/vo/f',
  ])('has no path at %s', (address) => {
    expect(pathAt(element(), address)).toBeUndefined();
  });

  it('has the path of an address whose names are escaped in another way', () => {
    const at = (names: string): unknown =>
      pathAt(element(), `https://xrd.example.org:1094/vo/${names}`);
    expect([at('%66'), at('a=1,b+c'), at('%c3%bc%2b')]).toEqual(['/vo/f', '/vo/a=1,b+c', '/vo/ü+']);
  });

  it('has tokens made out to scheme, host and port, unless it says another audience', () => {
    expect(audienceOf(element())).toBe('https://xrd.example.org:1094');
    expect(audienceOf(element({ audience: 'xrd' }))).toBe('xrd');
  });

  it.each<[Partial<AddressedElement>[], string[]]>([
    [[{}], []],
    [[{ url: 'https://x/data/vo', base: '/vo' }], []],
    [[{ url: 'https://x', base: '/' }], []],
    [[{ url: 'https://x/vo/data', base: '/vo/data' }], []],
    [
      [{ base: '/other' }],
      ['base: must be / or, for one virtual organisation, its directory or one below'],
    ],
    [
      [{ base: '/vo2' }],
      ['base: must be / or, for one virtual organisation, its directory or one below'],
    ],
    [
      [{ vos: ['vo', 'w'], base: '/vo' }],
      ['base: must be / or, for one virtual organisation, its directory or one below'],
    ],
    [
      [{ url: 'https://x/store' }],
      [
        'url: must end with /vo: the storage compares the paths of tokens, which are those of the catalogue, with its own',
      ],
    ],
    [[{ url: 'https://x/store', kind: 's3' }], []],
    [
      [{}, { name: 'SE2' }],
      ['url: is also that of SE; files of two elements may not lie in one place'],
    ],
    [
      [
        { url: 'https://x', vos: ['a', 'b'] },
        { name: 'SE2', url: 'https://x/b', vos: ['b'] },
      ],
      ['url: is also that of SE; files of two elements may not lie in one place'],
    ],
    [
      [
        { url: 'https://x', vos: ['a', 'c'] },
        { name: 'SE2', url: 'https://x/b', vos: ['b'] },
      ],
      [],
    ],
    [
      [
        { url: 'https://x/s', kind: 's3' },
        { name: 'SE2', url: 'https://x/s/t', kind: 's3' },
      ],
      ['url: is also that of SE; files of two elements may not lie in one place'],
    ],
  ])('beside others, %j, has the faults %j', (elements, faults) => {
    const found = addressFaults(elements.map((one) => element(one)));
    expect(found.map(({ member, problem }) => `${member}: ${problem}`)).toEqual(faults);
  });
});

import { Session } from '../session/session.js';
import { useCleanEnvironment } from '../testing/clean-environment.js';
import { ScriptedAdapter } from '../testing/scripted-adapter.js';

useCleanEnvironment();

const URL_ = 'https://h.test/';
const FORM = 'application/x-www-form-urlencoded';

function setUp() {
  const adapter = new ScriptedAdapter();
  const session = new Session();
  session.mount('https://', adapter);
  // the types refuse most of what is tried here
  const call = session as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  return { adapter, call };
}

class Credentials {
  user = 'jane';
}

describe('post(url, data, json, {…})', () => {
  it.each<[name: string, given: unknown[], body: unknown, type: string | undefined]>([
    ['text', ['raw'], 'raw', undefined],
    ['fields', [{ a: '1' }], 'a=1', FORM],
    ['fields, one of them named like an option', [{ a: '1', timeout: '5' }], 'a=1&timeout=5', FORM],
    ['pairs', [[['a', '1']]], 'a=1', FORM],
    ['a Map', [new Map([['a', '1']])], 'a=1', FORM],
    ['URLSearchParams', [new URLSearchParams('a=1')], 'a=1', FORM],
    ['the members of an object', [new Credentials()], 'user=jane', FORM],
    ['bytes', [Buffer.from('b')], Buffer.from('b'), undefined],
    ['a view of bytes', [new DataView(new ArrayBuffer(2), 1)], new Uint8Array(1), undefined],
    ['an array buffer', [new ArrayBuffer(1)], new Uint8Array(1), undefined],
    ['options', [{ data: 'x', timeout: 1 }], 'x', undefined],
    ['no options', [{}], null, undefined],
    ['null', [null], null, undefined],
    ['data and options', ['x', { timeout: 1 }], 'x', undefined],
    ['data and no options', ['x', null], 'x', undefined],
    ['json', [null, { a: 1 }], '{"a":1}', 'application/json'],
    ['empty json', [null, {}], '{}', 'application/json'],
    ['json that is text', [undefined, 'a'], '"a"', 'application/json'],
    ['json that looks like options', [null, { data: 'x' }, {}], '{"data":"x"}', 'application/json'],
    ['fields that look like options', [{ data: 'x' }, null, {}], 'data=x', FORM],
    ['data, json and options', [{}, [1], { timeout: 1 }], '[1]', 'application/json'],
    ['nothing after the options', [{ data: 'x' }, undefined], 'x', undefined],
  ])('takes %s', async (_name, given, body, type) => {
    const { adapter, call } = setUp();
    await call['post']!(URL_, ...given);
    expect([adapter.seen[0]?.body, adapter.seen[0]?.headers['Content-Type']]).toEqual([body, type]);
  });

  it.each<[name: string, given: unknown[]]>([
    ['a number', [7]],
    ['a boolean', [true]],
    ['a symbol', [Symbol('s')]],
    ['a function', [() => 'x']],
    ['a promise', [Promise.resolve('x')]],
    ['a date', [new Date()]],
    ['a list of texts', [['a', 'b']]],
    ['a list of longer lists', [[['a', 'b', 'c']]]],
    ['a field that is an object', [{ a: { b: 1 } }]],
    ['a field that is a date', [{ a: new Date() }]],
    ['json beside data', ['x', { a: 1 }]],
    ['data twice', ['x', { data: 'y' }]],
    ['json twice', [null, [1], { json: [2] }]],
    ['options that are a text', ['x', null, 'y']],
    ['options that are a class of their own', ['x', null, new Credentials()]],
    ['an option that does not exist', [{ data: 'x' }, null, { tiemout: 1 }]],
    ['one argument too many', ['x', null, {}, {}]],
  ])('refuses %s and sends nothing', async (_name, given) => {
    const { adapter, call } = setUp();
    await expect(call['post']!(URL_, ...given)).rejects.toThrow(TypeError);
    expect(adapter.seen).toEqual([]);
  });
});

describe('put and patch(url, data, {…})', () => {
  it.each(['put', 'patch'])('%s takes data or options', async (verb) => {
    const { adapter, call } = setUp();
    await call[verb]!(URL_, 'raw');
    await call[verb]!(URL_, { a: '1' }, { headers: { X: 'y' } });
    await call[verb]!(URL_, { data: 'z' });
    expect(adapter.seen.map(({ body, headers }) => [body, headers['X']])).toEqual([
      ['raw', undefined],
      ['a=1', 'y'],
      ['z', undefined],
    ]);
    for (const given of [['x', 'y'], ['x', { nope: 1 }], [7], ['x', {}, {}]]) {
      await expect(call[verb]!(URL_, ...given)).rejects.toThrow(TypeError);
    }
    expect(adapter.seen).toHaveLength(3);
  });
});

describe('get, head, options, delete(url, {…})', () => {
  it.each(['get', 'head', 'options', 'delete'])(
    '%s takes options and nothing else',
    async (verb) => {
      const { adapter, call } = setUp();
      for (const given of [[], [undefined], [null], [{}], [{ params: { a: 1 } }]]) {
        await call[verb]!(URL_, ...given);
      }
      expect(adapter.seen.map(({ url }) => url)).toEqual([URL_, URL_, URL_, URL_, `${URL_}?a=1`]);
      for (const given of ['raw', 7, [], new Map(), new Credentials(), { tiemout: 1 }, () => 1]) {
        await expect(call[verb]!(URL_, given)).rejects.toThrow(TypeError);
      }
      await expect(call[verb]!(URL_, {}, {})).rejects.toThrow(TypeError);
      expect(adapter.seen).toHaveLength(5);
    },
  );

  it('a form of the platform is sent as one', async () => {
    const { adapter, call } = setUp();
    const form = new FormData();
    form.append('a', '1');
    form.append('f', new Blob(['x'], { type: 'text/plain' }), 'f.txt');
    await call['post']!(URL_, form);
    const { body, headers } = adapter.seen[0]!;
    let text = '';
    for await (const chunk of body as AsyncIterable<Uint8Array | string>)
      text += String(Buffer.from(chunk as string));
    const boundary = /boundary=(\S+)/.exec(headers['Content-Type'] ?? '')?.[1] ?? '';
    expect(text.replaceAll(boundary, 'B')).toBe(
      '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' +
        '--B\r\nContent-Disposition: form-data; name="f"; filename="f.txt"\r\n' +
        'Content-Type: text/plain\r\n\r\nx\r\n--B--\r\n',
    );
  });
});

describe('merge_environment_settings(url, proxies, stream, verify, cert)', () => {
  const session = new Session({ trust_env: false });

  it('takes its parameters by their places and by name', () => {
    const expected = { proxies: { https: 'http://p' }, stream: true, verify: '/ca', cert: 'c.pem' };
    const { proxies, stream, verify, cert } = expected;
    expect(session.merge_environment_settings(URL_, proxies, stream, verify, cert)).toEqual(
      expected,
    );
    expect(session.merge_environment_settings(URL_, expected)).toEqual(expected);
    expect(session.merge_environment_settings(URL_, proxies, { stream, verify, cert })).toEqual(
      expected,
    );
  });

  it.each<[unknown[]]>([[[null, 'yes']], [[null, null, 7]], [['p']], [[{}, { verfy: false }]]])(
    'refuses %j',
    (given) => {
      const call = session.merge_environment_settings.bind(session) as (
        ...all: unknown[]
      ) => unknown;
      expect(() => call(URL_, ...given)).toThrow(TypeError);
    },
  );
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { netrcAuth } from './netrc.js';
import { Session } from './session.js';
import { useCleanEnvironment } from '../testing/clean-environment.js';

useCleanEnvironment();

let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'netrc-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function netrc(text: string | Buffer): void {
  files += 1;
  const path = join(directory, `netrc-${files}`);
  writeFileSync(path, text);
  process.env['NETRC'] = path;
}

describe('.netrc', () => {
  it.each([
    ['machine h.test login u password p', 'http://h.test:8080/x', ['u', 'p']],
    ['machine h.test\n  login u\n  password p\n', 'http://H.test/', ['u', 'p']],
    ['machine h.test account a password p', 'http://h.test/', ['a', 'p']],
    ['machine h.test login "" account a password p', 'http://h.test/', ['a', 'p']],
    ['machine h.test login u password "p w\\"x"', 'http://h.test/', ['u', 'p w"x']],
    ['# note\nmachine h.test login u password #p', 'http://h.test/', ['u', '#p']],
    ['macdef init\ncd /\nls\n\nmachine h.test login u password p', 'http://h.test/', ['u', 'p']],
    ['machine x.test login u password p\ndefault login d password e', 'http://h.test/', ['d', 'e']],
    ['machine x.test login u password p\ndefault', 'http://h.test/', null],
    ['machine x.test login u password p', 'http://h.test/', null],
    ['machine good.test login u password p', 'http://good.test:@evil.test/', null],
    ['machine evil.test login u password p', 'http://good.test:@evil.test/', ['u', 'p']],
    ['machine h.test nonsense', 'http://h.test/', null],
    ['login u', 'http://h.test/', null],
  ])('%j for %s', (text, url, expected) => {
    netrc(text);
    expect(netrcAuth(url)).toEqual(expected);
  });

  it('keeps an entry that is no UTF-8 from being used in another spelling, and the others count', () => {
    const text =
      'machine a.test login u password caf\xe9\nmachine b.test login u\xe9 password p\n' +
      'machine c.test login u password p\ndefault login d password d\n';
    netrc(Buffer.from(text, 'latin1'));
    const found = ['a', 'b', 'c', 'other'].map((host) => netrcAuth(`http://${host}.test/`));
    expect(found).toEqual([null, null, ['u', 'p'], ['d', 'd']]);
    netrc('machine a.test login u password caf\u00e9\ufffd');
    expect(netrcAuth('http://a.test/')).toEqual(['u', 'caf\u00e9\ufffd']);
  });

  it('is ignored when it does not exist or cannot be read', () => {
    process.env['NETRC'] = join(directory, 'missing');
    expect(netrcAuth('http://h.test/')).toBeNull();
    process.env['NETRC'] = directory;
    expect(netrcAuth('http://h.test/')).toBeNull();
  });
});

describe('authentication of a request', () => {
  const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;
  const request = { method: 'GET', url: 'http://url:pw@h.test/' };

  async function authorization(session: Session, extra: object = {}): Promise<string | undefined> {
    const prepared = await session.prepare_request({ ...request, ...extra });
    return prepared.headers.get('Authorization');
  }

  beforeEach(() => netrc('machine h.test login netrc password pw'));

  it('comes from the call, the session, .netrc, the URL, in this order', async () => {
    const session = new Session({ auth: ['session', 'pw'] });
    expect(await authorization(session, { auth: ['call', 'pw'] })).toBe(basic('call:pw'));
    expect(await authorization(session)).toBe(basic('session:pw'));
    expect(await authorization(new Session())).toBe(basic('netrc:pw'));
    expect(await authorization(new Session({ trust_env: false }))).toBe(basic('url:pw'));
    expect(await authorization(new Session({ use_netrc: false }))).toBe(basic('url:pw'));
  });

  it('never takes .netrc over an Authorization header set by hand', async () => {
    const headers = { authorization: 'Bearer mine' };
    expect(await authorization(new Session(), { headers, url: 'http://h.test/' })).toBe(
      'Bearer mine',
    );
  });

  it.each(['/dev/null/netrc', `/${'n'.repeat(5000)}`])(
    'does not mind a .netrc path that cannot be looked at: %.20s',
    async (path) => {
      process.env['NETRC'] = path;
      expect(await authorization(new Session())).toBe(basic('url:pw'));
    },
  );

  it('can be kept from .netrc for one call', async () => {
    const plain = { ...request, url: 'http://h.test/' };
    const prepared = await new Session().prepare_request(plain, { use_netrc: false });
    expect(prepared.headers.has('Authorization')).toBe(false);
  });

  it('encodes user names beyond ASCII as UTF-8', async () => {
    expect(await authorization(new Session(), { auth: ['é', 'ü'] })).toBe(basic('é:ü'));
  });
});

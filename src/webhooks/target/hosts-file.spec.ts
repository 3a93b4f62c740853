import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostsFile } from './hosts-file.js';

const TEXT = `# hosts of the site
127.0.0.1\tlocalhost
::1 localhost ip6-localhost   # of both families
10.0.0.7  Portal.Example.org portal
10.0.0.8  portal.example.org\r
no-address  wrong
10.0.0.9
#10.0.0.1 old.example.org
`;

describe('the hosts file', () => {
  let directory: string;
  let path: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-hosts-'));
    path = join(directory, 'hosts');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it.each([
    ['localhost', ['127.0.0.1', '::1']],
    ['ip6-localhost', ['::1']],
    ['PORTAL.example.org', ['10.0.0.7', '10.0.0.8']],
    ['portal', ['10.0.0.7']],
    ['wrong', []],
    ['old.example.org', []],
    ['of', []],
    ['constructor', []],
    ['', []],
  ])('gives %s the addresses %j', async (name, addresses) => {
    await writeFile(path, TEXT);
    expect(await new HostsFile(path).addressesOf(name)).toEqual(addresses);
  });

  it('is read again when it has changed, and knows nobody while it is not there or far too large', async () => {
    const hosts = new HostsFile(path);
    expect(await hosts.addressesOf('portal')).toEqual([]);
    await writeFile(path, TEXT);
    expect(await hosts.addressesOf('portal')).toEqual(['10.0.0.7']);
    await writeFile(path, '10.0.0.9 portal\n');
    expect(await hosts.addressesOf('portal')).toEqual(['10.0.0.9']);
    await writeFile(path, '10.0.0.6 portal\n');
    await utimes(path, 1, 1);
    expect(await hosts.addressesOf('portal')).toEqual(['10.0.0.6']);
    await writeFile(path, `10.0.0.5 portal\n${'#'.repeat(1_048_576)}`);
    expect(await hosts.addressesOf('portal')).toEqual([]);
    await rm(path);
    expect(await hosts.addressesOf('portal')).toEqual([]);
  });
});

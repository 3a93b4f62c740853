import { describe, expect, it } from '@jest/globals';
import { RegistryFileError, parseRegistryFile } from './registry-file.js';

const GOOD = { url: 'http://slurm.example.org:6820', workDirectory: '/shared/north' };
const SSH = {
  ...{ ssh: 'login', user: 'grid', identityFile: '/k', knownHostsFile: '/h' },
  workDirectory: '/w',
};

function read(connection: unknown, backend = 'slurm') {
  const text = JSON.stringify({ sites: { A: { backend, connection } } });
  return parseRegistryFile(text).sites?.[0]?.connection;
}

function faultsOf(connection: unknown, backend?: string): string[] {
  try {
    read(connection, backend);
    return [];
  } catch (error) {
    if (!(error instanceof RegistryFileError)) throw error;
    return error.message.split('\n').map((line) => line.replace(/^line 1: sites\.A\./, ''));
  }
}

describe('the connection of a site', () => {
  it('is read', () => {
    const whole = { ...GOOD, keyFile: '/etc/grid/north.key', user: 'grid', timeout: 9 };
    expect(read(whole)).toEqual(whole);
    const socket = { url: 'unix:/run/slurm/rest.sock', tokenFile: '/t', workDirectory: '/w/' };
    expect(read(socket)).toEqual(socket);
    expect(read(undefined)).toBeUndefined();
  });

  it('by ssh is read', () => {
    const whole = {
      ...{ ssh: 'login.example.org', port: 2222, identityFile: '/k', knownHostsFile: '/h' },
      ...{ programs: '/opt/slurm/bin', configFile: '/etc/slurm/slurm.conf' },
      ...{ user: 'grid', workDirectory: '/w', remoteDirectory: '/there', timeout: 9 },
    };
    expect(read(whole)).toEqual(whole);
    expect(read({ ...SSH, ssh: '2001:db8::1' })).toEqual({ ...SSH, ssh: '2001:db8::1' });
  });

  it.each<[object, string[]]>([
    [
      { ssh: 'login' },
      [
        'connection.identityFile: is missing',
        'connection.knownHostsFile: is missing',
        'connection.user: is missing',
        'connection.workDirectory: is missing',
      ],
    ],
    [{ ...SSH, ssh: '-oProxyCommand=id' }, ['connection.ssh: is no name or address of a machine']],
    [{ ...SSH, ssh: 'grid@login' }, ['connection.ssh: is no name or address of a machine']],
    [{ ...SSH, ssh: 'a b' }, ['connection.ssh: is no name or address of a machine']],
    [{ ...SSH, port: 65_536 }, ['connection.port: must be a whole number from 1 to 65535']],
    [{ ...SSH, user: 'a b' }, ['connection.user: is no name of an account']],
    [{ ...SSH, url: 'http://a' }, ['connection.url: is not for a connection by ssh']],
    [{ ...SSH, keyFile: '/k' }, ['connection.keyFile: is not for a connection by ssh']],
    [{ ...GOOD, programs: '/bin' }, ['connection.programs: is for a connection by ssh only']],
    [
      { ...SSH, identityFile: '~/.ssh/id', knownHostsFile: '/h%h' },
      ['identityFile', 'knownHostsFile'].map(
        (name) => `connection.${name}: is no absolute path of letters, digits and . _ + @ -`,
      ),
    ],
    [
      { ...SSH, programs: '/bin:/x', configFile: '/a;b' },
      ['programs', 'configFile'].map(
        (name) => `connection.${name}: is no absolute path of letters, digits and . _ + @ -`,
      ),
    ],
  ])('by ssh is refused as %j', (connection, faults) => {
    expect(faultsOf(connection)).toEqual(faults);
  });

  it.each<[object, string[]]>([
    [{}, ['connection.url: is missing', 'connection.workDirectory: is missing']],
    [
      { ...GOOD, url: 'slurm:6820' },
      ['connection.url: is neither http://host:port nor unix:/path'],
    ],
    [
      { ...GOOD, url: 'http://a:b@c' },
      ['connection.url: is neither http://host:port nor unix:/path'],
    ],
    [
      { ...GOOD, workDirectory: 'shared' },
      ['connection.workDirectory: is no absolute path of letters, digits and . _ + @ -'],
    ],
    [
      { ...GOOD, workDirectory: '/a/../b' },
      ['connection.workDirectory: is no absolute path of letters, digits and . _ + @ -'],
    ],
    [
      { ...GOOD, keyFile: '/a b' },
      ['connection.keyFile: is no absolute path of letters, digits and . _ + @ -'],
    ],
    [
      { ...GOOD, tokenFile: '/t', keyFile: '/k' },
      ['connection.keyFile: stands beside tokenFile: one of both'],
    ],
    [{ ...GOOD, user: '-root' }, ['connection.user: is no name of an account']],
    [{ ...GOOD, user: 7 }, ['connection.user: must be text (put it in quotes)']],
    [{ ...GOOD, timeout: 0 }, ['connection.timeout: must be a whole number from 1 to 300']],
  ])('refuses %j', (connection, faults) => {
    expect(faultsOf(connection)).toEqual(faults);
  });

  it('holds nothing else, and is of Slurm sites only', () => {
    expect(faultsOf({ ...GOOD, token: 'x' })).toEqual([
      expect.stringContaining('connection.token: is not known here; known are url, '),
    ]);
    expect(faultsOf(GOOD, 'local-process')).toEqual([
      'connection: is for sites of the backend slurm only',
    ]);
    expect(faultsOf('http://a')).toContain('connection: must be a map of names');
  });
});

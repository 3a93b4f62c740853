import { describe, expect, it } from '@jest/globals';
import { RegistryFileError, parseRegistryFile } from './registry-file.js';

const GOOD = { url: 'http://slurm.example.org:6820', workDirectory: '/shared/north' };

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

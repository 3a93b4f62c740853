import { describe, expect, it } from '@jest/globals';
import { userInfo } from 'node:os';
import { parseDatabaseUrl } from './database-url.js';

const ADDRESS = {
  host: 'db',
  port: 5432,
  user: 'grid',
  password: 'geheim',
  database: 'gridgate',
  tls: { mode: 'prefer' },
};

describe('parseDatabaseUrl', () => {
  it.each([
    ['all parts', 'postgres://grid:geheim@db:6432/gridgate', { port: 6432 }],
    ['the longer scheme and no port', 'postgresql://grid:geheim@db/gridgate', {}],
    [
      'encoded characters in every part',
      'postgres://gr%C3%AFd%20%40:p%40%2F%3F%23%25%3A@db/my%2Fdb',
      { user: 'grïd @', password: 'p@/?#%:', database: 'my/db' },
    ],
    [
      'an "@" and a ":" in the password',
      'postgres://grid:a@b:c@db/gridgate',
      { password: 'a@b:c' },
    ],
    ['a "+" as itself', 'postgres://grid:a+b@db/gridgate', { password: 'a+b' }],
    ['IPv6', 'postgres://grid:geheim@[::1]:6432/gridgate', { host: '::1', port: 6432 }],
    [
      'an encoded socket directory',
      'postgres://grid:geheim@%2Frun%2Fpostgresql:5433/gridgate',
      { host: '/run/postgresql', port: 5433, tls: { mode: 'disable' } },
    ],
    [
      'a socket directory as parameter, for which TLS means nothing',
      'postgres:///gridgate?host=/run/postgresql&user=grid&password=geheim&sslmode=require',
      { host: '/run/postgresql', tls: { mode: 'disable' } },
    ],
    [
      'a socket directory beside credentials',
      'postgres://grid:geheim@/gridgate?host=/run/postgresql',
      { host: '/run/postgresql', tls: { mode: 'disable' } },
    ],
    ['the database as parameter', 'postgres://grid:geheim@db?dbname=gridgate', {}],
    ['no database', 'postgres://grid:geheim@db', { database: 'grid' }],
    ['no host', 'postgres://grid:geheim@/gridgate', { host: 'localhost' }],
    ['no password', 'postgres://grid@db/gridgate', { password: undefined }],
    ['no user', 'postgres://db/gridgate', { user: userInfo().username, password: undefined }],
    ['TLS off', 'postgres://grid:geheim@db/gridgate?sslmode=disable', { tls: { mode: 'disable' } }],
    [
      'TLS with everything',
      'postgres://grid:geheim@db/gridgate?sslmode=verify-full&sslrootcert=/c/ca.pem&sslcert=/c/a%20b.pem&sslkey=/c/key.pem&sslpassword=x',
      {
        tls: {
          mode: 'verify-full',
          sslrootcert: '/c/ca.pem',
          sslcert: '/c/a b.pem',
          sslkey: '/c/key.pem',
          sslpassword: 'x',
        },
      },
    ],
    [
      'the CAs of the runtime',
      'postgres://grid:geheim@db/gridgate?sslmode=verify-full&sslrootcert=system',
      { tls: { mode: 'verify-full' } },
    ],
  ])('reads %s', (_what, url, differs) => {
    expect(parseDatabaseUrl(url)).toEqual({ ...ADDRESS, ...differs });
  });

  it.each([
    ['another scheme', 'mysql://grid:geheim@db/x', 'is not a postgres:// URL'],
    ['a bare name', 'geheim', 'is not a postgres:// URL'],
    ['a "#" in the password', 'postgres://grid:geheim#1@db/x', 'has a "#": in user'],
    ['a "/" in the password', 'postgres://grid:geheim/1@db/x', 'has a port that is no number'],
    ['a "%" in the password', 'postgres://grid:geheim%zz@db/x', 'has a "%" that begins'],
    ['a port out of range', 'postgres://grid:geheim@db:65536/x', 'has a port that is no number'],
    ['an unclosed bracket', 'postgres://grid:geheim@[::1/x', 'has no host and port'],
    ['IPv6 without brackets', 'postgres://grid:geheim@::1/x', 'has a port that is no number'],
    ['several hosts', 'postgres://grid:geheim@a,b/x', 'names several hosts: one is expected'],
    [
      'an unknown parameter',
      'postgres://grid:geheim@db/x?geheim=1',
      'has a parameter that is none of host, ',
    ],
    ['a parameter twice', 'postgres://g@db/x?user=a&user=b', 'has the parameter user twice'],
    [
      'an unknown sslmode',
      'postgres://g@db/x?sslmode=geheim',
      'has an sslmode that is none of disable, ',
    ],
    [
      'a certificate without key',
      'postgres://g@db/x?sslcert=/c',
      'has only one of sslcert and sslkey',
    ],
    [
      'a key without certificate',
      'postgres://g@db/x?sslkey=/c',
      'has only one of sslcert and sslkey',
    ],
    [
      'verify-ca without CA',
      'postgres://g@db/x?sslmode=verify-ca',
      'has sslmode=verify-ca without sslrootcert',
    ],
    [
      'a CA that is not used',
      'postgres://g@db/x?sslrootcert=/c',
      'has sslrootcert, but sslmode=prefer checks',
    ],
  ])('refuses %s without repeating anything of it', (_what, url, message) => {
    expect(() => parseDatabaseUrl(url)).toThrow(message);
    expect(() => parseDatabaseUrl(url)).not.toThrow('geheim');
  });
});

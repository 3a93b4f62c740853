import { describe, expect, it } from '@jest/globals';
import type { Config } from '#src/config/index.js';
import { configOf, connectionFault } from './site-settings.js';

const SETTINGS = {
  homePath: '/home/grid',
  slurmUser: 'griduser',
  slurmAccounts: 'owner',
  slurmPartition: 'main',
  slurmTimeout: 30,
  slurmSlots: 7,
} as Config;
const CONNECTION = { url: 'http://a', workDirectory: '/shared/a' };

describe('settings of a site with a cluster of its own', () => {
  it('are those of the service where the site says nothing', () => {
    expect(configOf(CONNECTION, SETTINGS)).toEqual({
      ...SETTINGS,
      slurmWorkDir: '/shared/a',
      slurmPartition: undefined, // its name is that of another cluster
    });
  });

  it('are its own where it says something; its user has all of its jobs', () => {
    const own = { ...CONNECTION, user: 'bo', timeout: 3 };
    expect(configOf(own, SETTINGS)).toMatchObject({
      slurmUser: 'bo',
      slurmAccounts: undefined,
      slurmTimeout: 3,
      slurmSlots: 7,
    });
  });

  it.each<[object, Partial<Config>, string | undefined]>([
    [{ keyFile: '/k' }, {}, undefined],
    [{ user: 'bo' }, {}, undefined],
    [
      {},
      {},
      'connection needs user, keyFile or tokenFile: without a token slurmrestd runs all jobs as its own account',
    ],
    [{ keyFile: '/k', workDirectory: '/home/grid/slurm' }, {}, undefined],
    [
      { keyFile: '/k', workDirectory: '/home/grid/slurm' },
      { slurmUrl: 'http://b' },
      'workDirectory is also that of the sites without a connection',
    ],
    [
      { keyFile: '/k', workDirectory: '/shared' },
      { slurmUrl: 'http://b', slurmWorkDir: '/shared/b' },
      'workDirectory is also that of the sites without a connection',
    ],
  ])('with %j beside %j say %j', (more, settings, fault) => {
    expect(connectionFault({ ...CONNECTION, ...more }, { ...SETTINGS, ...settings })).toBe(fault);
  });
});

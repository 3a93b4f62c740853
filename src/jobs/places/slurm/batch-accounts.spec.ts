import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ConfigurationFault, type Config } from '#src/config/index.js';
import type { RunOrder } from '../../run/executor.js';
import { BatchAccounts, type AccountWays, type BatchAccount } from './batch-accounts.js';

/** name:uid:gid, in the order in which a look-up by number finds them. */
const PASSWD = [
  'root:0:0',
  'daemon:1:1',
  'nobody:65534:65534',
  'jane:71001:100',
  'john:71002:100',
  'jane2:71001:100',
  'toor:0:0',
  'griduser:71003:100',
  'pool7:200007:200007',
  'grid_user:71004:100',
];
const ROWS = PASSWD.map((line): BatchAccount => {
  const [name = '', uid, gid] = line.split(':');
  return { name, uid: Number(uid), gid: Number(gid) };
});

const open = (more: Partial<AccountWays> = {}) => {
  const asked: string[] = [];
  const time = { ms: 0 };
  const accounts = BatchAccounts.by({
    by: 'owner',
    kept: 'griduser',
    firstUid: 1000,
    local: { first: 200_000, last: 265_535 },
    clock: { now: () => time.ms },
    lookUp: (key) => {
      asked.push(key);
      // As directory services do, it does not tell capitals apart.
      const isKey = ({ name, uid }: BatchAccount) => name === key.toLowerCase() || `${uid}` === key;
      return Promise.resolve(ROWS.find(isKey));
    },
    ...more,
  });
  return { accounts, asked, time };
};
const order = (owner: string, ownerGroup = 'grid_user') => ({ owner, ownerGroup }) as RunOrder;

describe('BatchAccounts', () => {
  it('gives each owner the account of that name', async () => {
    const { accounts } = open();
    expect(await accounts.of(order('jane'))).toEqual({ name: 'jane', uid: 71001, gid: 100 });
    expect(await accounts.of(order('john'))).toEqual({ name: 'john', uid: 71002, gid: 100 });
    expect([accounts.only, accounts.givesFiles]).toEqual([undefined, true]);
  });

  it('gives each group the account of that name', async () => {
    const { accounts } = open({ by: 'group' });
    const account = { name: 'grid_user', uid: 71004, gid: 100 };
    expect(await accounts.of(order('jane'))).toEqual(account);
    expect(await accounts.of(order('nobody-knows'))).toEqual(account);
    await expect(accounts.of(order('jane', 'grid_none'))).rejects.toMatchObject({
      minor: 'Submitting To CE',
      app: 'Jobs of jane in grid_none run under the account grid_none, which does not exist',
    });
  });

  it.each([
    ['mallory', 'does not exist'],
    ['Jane', 'does not exist'],
    ['71001', 'cannot be the name of an account'],
    ['-jane', 'cannot be the name of an account'],
    ['../jane', 'cannot be the name of an account'],
    ['jane doe', 'cannot be the name of an account'],
    ['', 'cannot be the name of an account'],
    ['root', 'is an account of the system'],
    ['toor', 'is an account of the system'],
    ['daemon', 'is an account of the system'],
    ['nobody', 'is an account of the system'],
    ['jane2', 'is another name of a different account'],
    ['griduser', 'the service keeps for itself (GRID_SLURM_USER)'],
    ['pool7', 'is one of those of local jobs (GRID_LOCAL_ACCOUNTS)'],
  ])('fails jobs of %p, naming owner and account, and falls back to none', async (owner, why) => {
    await expect(open().accounts.of(order(owner))).rejects.toMatchObject({
      name: 'RunFault',
      minor: 'Submitting To CE',
      app: `Jobs of ${owner} run under the account ${owner}, which ${why}`,
    });
  });

  it("refuses the service's own account", async () => {
    runAs(1_500);
    const own = { name: 'own', uid: 1_500, gid: 1 };
    const { accounts } = open({ firstUid: 0, lookUp: () => Promise.resolve(own) });
    await expect(accounts.of(order('own'))).rejects.toThrow('which is that of the service');
  });

  it('asks once a minute for an account that is there, sooner for one that is not', async () => {
    const { accounts, asked, time } = open();
    await Promise.all([accounts.of(order('jane')), accounts.of(order('jane'))]);
    await accounts.of(order('mallory')).catch(() => undefined);
    expect(asked).toEqual(['jane', '71001', 'mallory']);
    time.ms = 6_000;
    await accounts.of(order('jane'));
    await accounts.of(order('mallory')).catch(() => undefined);
    expect(asked.slice(3)).toEqual(['mallory']);
    time.ms = 61_000;
    await accounts.of(order('jane'));
    expect(asked.slice(4)).toEqual(['jane', '71001']);
  });

  it('blames no job while nobody can be asked, and asks again', async () => {
    let isAway = true;
    const { accounts } = open({
      lookUp: (key) =>
        isAway
          ? Promise.reject(new Error('away'))
          : Promise.resolve(ROWS.find(({ name, uid }) => [name, `${uid}`].includes(key))),
    });
    const failed = accounts.of(order('jane'));
    await expect(failed).rejects.toThrow('away');
    await expect(failed).rejects.not.toMatchObject({ name: 'RunFault' });
    isAway = false;
    expect(await accounts.of(order('jane'))).toMatchObject({ uid: 71001 });
  });

  it('keeps the account of a run that is staged', async () => {
    const { accounts } = open();
    const owner = { uid: 71003, gid: 100 };
    expect(await accounts.ofStaged(owner)).toEqual({ name: 'griduser', ...owner });
    await expect(accounts.ofStaged({ uid: 4711, gid: 1 })).rejects.toMatchObject({
      app: 'The run belongs to account 4711, which is not there',
    });
    await expect(accounts.ofStaged({ uid: 0, gid: 0 })).rejects.toThrow('account 0');
  });

  const clock = { now: () => 0 };
  const settings = (slurmAccounts: string | undefined, slurmUser = 'griduser') =>
    ({ slurmAccounts, slurmUser, localAccounts: '200000-265535' }) as Config;
  const runAs = (uid: number) => jest.spyOn(process, 'getuid').mockReturnValue(uid);
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ['no-such-account', 'does not exist'],
    ['root', 'is an account of the system'],
    ['daemon', 'is an account of the system'],
  ])('refuses to start with one account %p', async (name, why) => {
    runAs(0);
    const opened = BatchAccounts.open(settings(name), clock);
    await expect(opened).rejects.toBeInstanceOf(ConfigurationFault);
    await expect(opened).rejects.toThrow(
      `GRID_SLURM_ACCOUNTS=${name} names an account that ${why}`,
    );
  });

  it('runs all jobs under GRID_SLURM_USER when nothing is said, but not as root', async () => {
    runAs(0);
    const accounts = await BatchAccounts.open(settings(undefined, 'nobody'), clock);
    expect(await accounts.of(order('jane'))).toMatchObject({ name: 'nobody', uid: 65_534 });
    await expect(BatchAccounts.open(settings(undefined, 'root'), clock)).rejects.toThrow('is root');
    await expect(BatchAccounts.open(settings(undefined, 'no-one'), clock)).rejects.toThrow(
      'GRID_SLURM_USER=no-one does not exist',
    );
  });

  it('needs root to give files to accounts', async () => {
    runAs(1000);
    await expect(BatchAccounts.open(settings('owner'), clock)).rejects.toBeInstanceOf(
      ConfigurationFault,
    );
    await expect(BatchAccounts.open(settings('owner'), clock)).rejects.toThrow(
      'GRID_SLURM_ACCOUNTS=owner needs a service that runs as root',
    );
  });
});

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import type { Clock } from '#src/kernel/index.js';
import { ConfigurationFault, type Config } from '#src/config/index.js';
import type { RunOrder } from '../../run/executor.js';
import { RunFault } from '../../run/run-plan.js';
import { MINOR } from '../../state/job-state.js';

/** An account of this machine and of the cluster, which must have the same ones: files belong to its numbers. */
export interface BatchAccount {
  name: string;
  uid: number;
  gid: number;
}

/** The account of that name or number; undefined when there is none. Rejects when nobody can be asked. */
export type AccountLookup = (key: string) => Promise<BatchAccount | undefined>;

/** What the choice of accounts depends on. */
export interface AccountWays {
  /** What of a job names its account. */
  by: 'owner' | 'group';
  /** An account that no job gets: the runs of an earlier setting are its. */
  kept: string;
  /** Smallest number of an account that is a person's. */
  firstUid: number;
  /** Accounts of local jobs. */
  local: { first: number; last: number };
  lookUp: AccountLookup;
  clock: Clock;
}

const run = promisify(execFile);
const LOOK_UP_TIMEOUT_MS = 10_000;
/** Exit code of getent for a key that is not there. */
const NO_SUCH_KEY = 2;
/** Letters first, so that no name is a number, an option or a path. */
const NAME = /^[A-Za-z_][\w.-]{0,31}$/;
const FIRST_UID = 1_000;
/** nobody, and the 16-bit -1. */
const NOBODY: ReadonlySet<number> = new Set([65_534, 65_535]);
const KNOWN_MS = 60_000;
const UNKNOWN_MS = 5_000;
const MAX_KEPT = 10_000;

/** Under which account each job runs (GRID_SLURM_ACCOUNTS): one for all, or that of its owner or group, never another. */
export class BatchAccounts {
  private readonly answers = new Map<string, { answer: Promise<Answer>; until: number }>();

  private constructor(
    private readonly rule: BatchAccount | AccountWays,
    private readonly lookUp: AccountLookup,
    /** The service is root: it gives files to the accounts, and acts in their name on them. */
    readonly givesFiles: boolean,
  ) {}

  /** Reads the settings. Throws ConfigurationFault for an account that is not there or may not run jobs. */
  static async open(config: Config, clock: Clock): Promise<BatchAccounts> {
    const { slurmAccounts: setting, slurmUser } = config;
    const isRoot = process.getuid?.() === 0;
    if (setting === undefined) {
      const account = isRoot ? await accountOfUser(slurmUser) : ownAccount(slurmUser);
      return new BatchAccounts(account, lookUpBySystem, isRoot);
    }
    if (!isRoot) {
      throw new ConfigurationFault([
        `GRID_SLURM_ACCOUNTS=${setting} needs a service that runs as root: it gives the files of jobs to their accounts`,
      ]);
    }
    const ways: AccountWays = {
      by: setting === 'group' ? 'group' : 'owner',
      kept: slurmUser,
      firstUid: await firstUidOfPeople(),
      local: rangeOf(config.localAccounts),
      lookUp: lookUpBySystem,
      clock,
    };
    if (setting === 'owner' || setting === 'group') return BatchAccounts.by(ways);
    // One account for all may be the one that it was before.
    const { account, why } = await accountNamed(setting, { ...ways, kept: '' });
    if (account !== undefined) return new BatchAccounts(account, lookUpBySystem, true);
    throw new ConfigurationFault([`GRID_SLURM_ACCOUNTS=${setting} names an account that ${why}`]);
  }

  /** Accounts by owner or group. */
  static by(ways: AccountWays): BatchAccounts {
    return new BatchAccounts(ways, ways.lookUp, true);
  }

  /** The account of all jobs; undefined when there are several. */
  get only(): BatchAccount | undefined {
    return 'uid' in this.rule ? this.rule : undefined;
  }

  /**
   * The account of a job. Throws RunFault with the owner and the account when there is none or when it may not run
   * jobs: the job fails then. Rejects otherwise while the accounts of the machine cannot be asked for.
   */
  async of({ owner, ownerGroup }: Pick<RunOrder, 'owner' | 'ownerGroup'>): Promise<BatchAccount> {
    const { rule } = this;
    if ('uid' in rule) return rule;
    const name = rule.by === 'owner' ? owner : ownerGroup;
    const { account, why } = await this.answerFor(name, rule);
    if (account !== undefined) return account;
    const whose = rule.by === 'owner' ? `Jobs of ${owner}` : `Jobs of ${owner} in ${ownerGroup}`;
    throw new RunFault(MINOR.submitting, `${whose} run under the account ${name}, which ${why}`);
  }

  /** The account to which a run was given when it was staged, whatever the settings say today. */
  async ofStaged({ uid, gid }: { uid: number; gid: number }): Promise<BatchAccount> {
    if (this.only?.uid === uid) return this.only;
    const account = uid === 0 ? undefined : await this.lookUp(String(uid));
    if (account !== undefined) return { name: account.name, uid, gid };
    throw new RunFault(MINOR.submitting, `The run belongs to account ${uid}, which is not there`);
  }

  private async answerFor(name: string, ways: AccountWays): Promise<Answer> {
    const now = ways.clock.now();
    const known = this.answers.get(name);
    if (known !== undefined && known.until > now) return known.answer;
    const answer = accountNamed(name, ways);
    if (this.answers.size >= MAX_KEPT) this.answers.clear();
    this.answers.set(name, { answer, until: now + UNKNOWN_MS });
    try {
      const { account } = await answer;
      if (account !== undefined) this.answers.set(name, { answer, until: now + KNOWN_MS });
    } catch (error) {
      this.answers.delete(name);
      throw error;
    }
    return answer;
  }
}

/** An account that may run jobs, or why not, as the end of a sentence. */
type Answer = { account: BatchAccount; why?: never } | { account?: never; why: string };

async function accountNamed(name: string, ways: AccountWays): Promise<Answer> {
  if (!NAME.test(name)) return { why: 'cannot be the name of an account' };
  const account = await ways.lookUp(name);
  // A directory that does not tell capitals apart would give two owners one account.
  if (account?.name !== name) return { why: 'does not exist' };
  const { uid } = account;
  if (uid < ways.firstUid || NOBODY.has(uid)) return { why: 'is an account of the system' };
  if (uid === process.getuid?.()) return { why: 'is that of the service' };
  if (name === ways.kept) return { why: 'the service keeps for itself (GRID_SLURM_USER)' };
  if (uid >= ways.local.first && uid <= ways.local.last) {
    return { why: 'is one of those of local jobs (GRID_LOCAL_ACCOUNTS)' };
  }
  const first = await ways.lookUp(String(uid));
  if (first?.name !== name) return { why: 'is another name of a different account' };
  return { account };
}

/** Without GRID_SLURM_ACCOUNTS: any account but root. */
async function accountOfUser(name: string): Promise<BatchAccount> {
  const account = NAME.test(name) ? await lookUpBySystem(name) : undefined;
  if (account === undefined) throw new Error(`GRID_SLURM_USER=${name} does not exist`);
  if (account.uid !== 0) return account;
  throw new Error(`GRID_SLURM_USER=${name} is root; jobs need an account of their own`);
}

function ownAccount(name: string): BatchAccount {
  const { username, uid, gid } = userInfo();
  if (username === name) return { name, uid, gid };
  throw new Error(`GRID_SLURM_USER=${name}: the service must run as root or as that account`);
}

/** Accounts may come from a directory service, so the system is asked. */
async function lookUpBySystem(key: string): Promise<BatchAccount | undefined> {
  let line: string;
  try {
    const options = { timeout: LOOK_UP_TIMEOUT_MS };
    line = (await run('getent', ['passwd', key], options)).stdout;
  } catch (error) {
    if ((error as { code?: unknown }).code === NO_SUCH_KEY) return undefined;
    throw new Error('the accounts of this machine cannot be asked for', { cause: error });
  }
  const [name = '', , uid = '', gid = ''] = line.split('\n', 1).join('').split(':');
  if (!/^\d+$/.test(uid) || !/^\d+$/.test(gid)) return undefined;
  return { name, uid: Number(uid), gid: Number(gid) };
}

/** UID_MIN of the machine: accounts below it belong to programs. */
async function firstUidOfPeople(): Promise<number> {
  const text = await readFile('/etc/login.defs', 'utf8').catch(() => '');
  return Number(/^[ \t]*UID_MIN[ \t]+(\d+)/m.exec(text)?.[1] ?? FIRST_UID);
}

function rangeOf(text: string): { first: number; last: number } {
  const match = /^(\d+)[-–](\d+)$/.exec(text.trim());
  return { first: Number(match?.[1] ?? 0), last: Number(match?.[2] ?? -1) };
}

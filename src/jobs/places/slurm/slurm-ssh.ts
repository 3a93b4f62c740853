import type { SlurmApi, SlurmJob, SlurmSubmission } from './slurm-api.js';
import { SlurmError } from './slurm-error.js';
import {
  errorOfCommand,
  jobsInQueue,
  QUEUE_FORMAT,
  submittedId,
  USE_COLUMNS,
  useInAccounting,
} from './slurm-text.js';
import type { BatchUse, UseOf } from './slurm-use.js';
import type { CommandResult, SshConnection } from './ssh-connection.js';

/**
 * What Slurm's own commands are asked on a login node, in the name of the account that ssh signs in: all jobs are its. squeue
 * is asked for the account's jobs only, so no other account's comment can be taken for ours. Throws SlurmError.
 */
export class SlurmSshApi implements SlurmApi {
  constructor(
    private readonly connection: SshConnection,
    readonly user = connection.user,
  ) {}

  /** There is one account: for another one, which the site had before, everything fails as `away`. */
  as(user: string): SlurmApi {
    return user === this.user ? this : new SlurmSshApi(this.connection, user);
  }

  get lastFaultMs(): number {
    return this.connection.lastFaultMs;
  }

  get isFailing(): boolean {
    return this.connection.isFailing || this.user !== this.connection.user;
  }

  async ping(): Promise<void> {
    const text = await this.command(['scontrol', 'ping']);
    if (/\bis UP\b/i.test(text)) return;
    throw new SlurmError('away', 'no Slurm controller is up', 0);
  }

  async submit(submission: SlurmSubmission): Promise<number> {
    const text = await this.command(submitWords(submission), submission.script);
    const id = submittedId(text);
    if (id !== undefined) return id;
    throw new SlurmError('away', 'sbatch answered without a job id', 0);
  }

  async jobs(): Promise<SlurmJob[]> {
    return this.queue();
  }

  async job(id: number): Promise<SlurmJob[]> {
    try {
      return await this.queue(`--jobs=${id}`);
    } catch (error) {
      if (error instanceof SlurmError && error.fault === 'unknown-job') return [];
      throw error;
    }
  }

  async cancel(arrayId: number, index?: number): Promise<void> {
    try {
      await this.command(['scancel', index === undefined ? `${arrayId}` : `${arrayId}_${index}`]);
    } catch (error) {
      const isGone = error instanceof SlurmError && ['unknown-job', 'ended'].includes(error.fault);
      if (!isGone) throw error;
    }
  }

  async use(of: UseOf): Promise<BatchUse | undefined> {
    const words = ['sacct', '--noheader', '--parsable2', `--jobs=${of.jobId}`];
    const result = await this.run([...words, `--format=${USE_COLUMNS}`]);
    // The accounting may be away while the controller is there.
    if (result.code !== 0) throw errorOfCommand('sacct', result.stderr);
    return useInAccounting(result.stdout, of);
  }

  abort(): Promise<void> {
    this.connection.abort();
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  private async queue(...which: string[]): Promise<SlurmJob[]> {
    const words = ['squeue', '--noheader', '--states=all', '--array', '--all'];
    const what = [`--user=${this.user}`, `--format=${QUEUE_FORMAT}`, ...which];
    const result = await this.run(['env', 'TZ=UTC0', ...words, ...what]);
    return jobsInQueue(this.outputOf('squeue', result));
  }

  private async run(words: readonly string[], input?: string): Promise<CommandResult> {
    const { connection, user } = this;
    if (user === connection.user) return connection.run(words, input);
    throw new SlurmError('away', `ssh signs in ${connection.user}, not ${user}`, 0);
  }

  private async command(words: readonly string[], input?: string): Promise<string> {
    const [program = ''] = words;
    return this.outputOf(program, await this.run(words, input));
  }

  private outputOf(program: string, { code, stdout, stderr }: CommandResult): string {
    if (code === 0) return stdout;
    const error = errorOfCommand(program, stderr);
    if (error.fault === 'away') this.connection.noteFault();
    throw error;
  }
}

/** The words of sbatch; its script comes on standard input. */
export function submitWords(submission: SlurmSubmission): string[] {
  const { name, comment, directory, tasks, timeLimitMinutes, cpus } = submission;
  const { memoryMb, gres, constraint, partition, account, qos } = submission;
  const asked = {
    'job-name': name,
    comment,
    chdir: directory,
    output: '/dev/null',
    error: '/dev/null',
    input: '/dev/null',
    time: timeLimitMinutes,
    nodes: 1,
    ntasks: 1,
    'cpus-per-task': cpus,
    array: tasks > 1 ? `0-${tasks - 1}` : undefined,
    mem: memoryMb === undefined ? undefined : `${memoryMb}M`,
    gres,
    constraint,
    partition,
    account,
    qos,
  };
  const options = Object.entries(asked).flatMap(([option, value]) =>
    value === undefined ? [] : [`--${option}=${value}`],
  );
  // Whether a job may be started again is decided by the service, never by Slurm.
  return ['sbatch', '--parsable', '--export=ALL', '--no-requeue', ...options];
}

import type { SlurmApi, SlurmJob, SlurmSubmission } from './slurm-api.js';
import type { Answer, SlurmConnection } from './slurm-connection.js';
import { SlurmError } from './slurm-error.js';
import { useIn, type BatchUse, type UseOf } from './slurm-use.js';

/** The least of the numbers by which Slurm says that there is none. */
const NO_VALUE = 0xff_ff_ff_fe;

/**
 * What slurmrestd (OpenAPI v0.0.38) is asked in the name of one account: it submits as that account, sees what the
 * cluster shows to it (with `PrivateData=jobs` only its own jobs), and may end nobody else's. Throws SlurmError.
 */
export class SlurmRestApi implements SlurmApi {
  constructor(
    private readonly connection: SlurmConnection,
    readonly user: string,
  ) {}

  /** The same in the name of another account. */
  as(user: string): SlurmApi {
    return user === this.user ? this : new SlurmRestApi(this.connection, user);
  }

  /** When the controller, or slurmrestd, was last found to be away. */
  get lastFaultMs(): number {
    return this.connection.lastFaultMs;
  }

  /** True for an account that got no answer the last time: others are asked before it. */
  get isFailing(): boolean {
    return this.connection.failing.has(this.user);
  }

  /** Throws unless the controller answers. */
  async ping(): Promise<void> {
    const { pings = [] } = (await this.call('GET', 'ping')) as { pings?: { ping?: string }[] };
    if (pings.some(({ ping }) => ping === 'UP')) return;
    throw new SlurmError('away', 'no Slurm controller is up', 0);
  }

  /**
   * Submits a job or an array; answers its id. After a fault `away` nobody knows whether it has arrived. An answer may
   * carry an error and an id: then Slurm has queued a job that it cannot start now (2015: more than the partition
   * has), which would wait for ever; it is taken out again.
   */
  async submit(submission: SlurmSubmission): Promise<number> {
    const body = { script: submission.script, job: propertiesOf(submission) };
    const { answer, error } = await this.connection.exchange(this.user, {
      method: 'POST',
      path: 'slurm/job/submit',
      body,
    });
    const id = numberOf(answer['job_id']);
    const isQueued = id > 0 && (error === undefined || error.fault === 'away');
    if (isQueued) return id;
    if (error === undefined) {
      throw new SlurmError('away', 'slurmrestd answered a submit without a job id', 0);
    }
    if (id > 0) await this.cancel(id);
    throw error;
  }

  /** All jobs that the controller remembers and shows to the account: everybody's, or its own; about 4 kB each. */
  async jobs(): Promise<SlurmJob[]> {
    return jobsOf(await this.call('GET', 'jobs'));
  }

  /** A job, or every remembered task of an array. Empty when the controller does not know it (any more). */
  async job(id: number): Promise<SlurmJob[]> {
    try {
      return jobsOf(await this.call('GET', `job/${id}`));
    } catch (error) {
      if (error instanceof SlurmError && error.fault === 'unknown-job') return [];
      throw error;
    }
  }

  /**
   * Ends a job, a whole array, or one task of it. Tasks are named by array and index: the task's own id is refused
   * (2017) by Slurm 22.05. A job that is gone or has ended is fine.
   */
  async cancel(arrayId: number, index?: number): Promise<void> {
    const target = index === undefined ? `${arrayId}` : `${arrayId}_${index}`;
    try {
      await this.call('DELETE', `job/${target}`);
    } catch (error) {
      const isGone = error instanceof SlurmError && ['unknown-job', 'ended'].includes(error.fault);
      if (!isGone) throw error;
    }
  }

  /**
   * What a job has used, by Slurm's accounting; undefined while that does not know the job to be over. Throws
   * SlurmError `refused` where slurmrestd has no accounting (the plug-in `openapi/dbv0.0.38`).
   */
  async use(of: UseOf): Promise<BatchUse | undefined> {
    const path = `slurmdb/job/${of.jobId}`;
    return useIn(await this.connection.call(this.user, { method: 'GET', path }), of);
  }

  /** Ends the questions that are under way: they fail as `away`. */
  async abort(): Promise<void> {
    await this.connection.abort();
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  private async call(method: 'GET' | 'DELETE', path: string): Promise<Answer> {
    return this.connection.call(this.user, { method, path: `slurm/${path}` });
  }
}

function propertiesOf(submission: SlurmSubmission): Record<string, unknown> {
  const { name, comment, directory, tasks, timeLimitMinutes, cpus } = submission;
  const { memoryMb, gres, constraint, partition, account, qos, environment } = submission;
  return {
    name,
    comment,
    environment,
    current_working_directory: directory,
    standard_output: '/dev/null',
    standard_error: '/dev/null',
    standard_input: '/dev/null',
    time_limit: timeLimitMinutes,
    nodes: 1,
    tasks: 1,
    cpus_per_task: cpus,
    // Whether a job may be started again is decided by the service, never by Slurm.
    requeue: false,
    ...(tasks > 1 ? { array: `0-${tasks - 1}` } : {}),
    ...(memoryMb === undefined ? {} : { memory_per_node: memoryMb }),
    ...(gres === undefined ? {} : { gres }),
    ...(constraint === undefined ? {} : { constraints: constraint }),
    ...(partition === undefined ? {} : { partition }),
    ...(account === undefined ? {} : { account }),
    ...(qos === undefined ? {} : { qos }),
  };
}

function jobsOf(answer: Answer): SlurmJob[] {
  const jobs = Array.isArray(answer['jobs']) ? (answer['jobs'] as Record<string, unknown>[]) : [];
  return jobs.map(jobOf);
}

function jobOf(row: Record<string, unknown>): SlurmJob {
  const jobId = numberOf(row['job_id']);
  const arrayId = numberOf(row['array_job_id']);
  const isTask = arrayId > 0 && typeof row['array_task_id'] === 'number';
  return {
    jobId,
    arrayId: arrayId > 0 ? arrayId : jobId,
    index: isTask ? numberOf(row['array_task_id']) : undefined,
    waitingIndices: textOf(row['array_task_string']),
    state: textOf(row['job_state']),
    // As squeue tells it: the reason alone says `JobHeldUser` for a start that failed.
    reason: textOf(row['state_description']) || textOf(row['state_reason']),
    startMs: timeOf(row['start_time']),
    comment: textOf(row['comment']),
    user: textOf(row['user_name']),
    uid: typeof row['user_id'] === 'number' ? row['user_id'] : -1,
    partition: textOf(row['partition']),
    node: textOf(row['batch_host']),
  };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** Seconds since 1970, by newer releases in an object that says whether they are set; 0 is not known. */
function timeOf(value: unknown): number | undefined {
  const { set, infinite, number } = Object(value) as Record<string, unknown>;
  const seconds = numberOf(set === true && infinite !== true ? number : value);
  return seconds > 0 && seconds < NO_VALUE ? seconds * 1000 : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

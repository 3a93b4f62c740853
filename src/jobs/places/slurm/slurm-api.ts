import { Pool } from 'undici';
import { isJsonObject, systemClock, type Clock } from '#src/kernel/index.js';
import { errorOfAnswer, SlurmError, type SlurmErrorEntry } from './slurm-error.js';
import { SlurmTokens } from './slurm-token.js';

const VERSION = 'v0.0.38';
const CONNECTIONS = 8;

type Method = 'GET' | 'POST' | 'DELETE';
type Answer = Record<string, unknown>;

/** How to reach slurmrestd. */
export interface SlurmApiSettings {
  /** `http://host:port`, `https://…` or `unix:/path`. */
  url: string;
  /** Account in whose name everything is done. */
  user: string;
  token?: string | undefined;
  keyFile?: string | undefined;
  timeoutMs: number;
  clock?: Clock;
}

/** A batch job, or an array of them that differ by their index only. */
export interface SlurmSubmission {
  name: string;
  /** By this the jobs are found again when nobody knows whether a submit arrived. */
  comment: string;
  script: string;
  directory: string;
  /** Number of array tasks, with the indices 0 to tasks − 1. */
  tasks: number;
  timeLimitMinutes: number;
  cpus: number;
  memoryMb?: number | undefined;
  gres?: string | undefined;
  constraint?: string | undefined;
  partition?: string | undefined;
  account?: string | undefined;
  qos?: string | undefined;
  environment: Readonly<Record<string, string>>;
}

/** What the controller knows of a job, or of those tasks of an array that have not started (`isArrayRest`). */
export interface SlurmJob {
  jobId: number;
  /** Id of the array, which is also the id of a job that is no array. */
  arrayId: number;
  /** Index of the task; undefined for what is left of an array. */
  index?: number | undefined;
  /** Indices of the tasks that have not started, as Slurm writes them: `3,5-9`. */
  waitingIndices: string;
  state: string;
  reason: string;
  comment: string;
  user: string;
  partition: string;
  node: string;
}

/**
 * Client of slurmrestd's OpenAPI v0.0.38 (Slurm 22.05 and later). Keeps its connections; every call has a deadline.
 * Throws SlurmError; tokens are in no message.
 */
export class SlurmApi {
  /** When the controller, or slurmrestd, was last found to be away. */
  lastFaultMs = 0;
  private readonly pool: Pool;
  private readonly clock: Clock;
  private readonly tokens: SlurmTokens;

  constructor(private readonly settings: SlurmApiSettings) {
    const { url, timeoutMs } = settings;
    const socketPath = /^unix:(\/.*)$/.exec(url)?.[1];
    const options = {
      connections: CONNECTIONS,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: timeoutMs, ...(socketPath === undefined ? {} : { socketPath }) },
    };
    this.pool = new Pool(socketPath === undefined ? url : 'http://localhost', options);
    this.clock = settings.clock ?? systemClock;
    this.tokens = new SlurmTokens(settings, this.clock);
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
    const { answer, error } = await this.exchange('POST', 'job/submit', body);
    const id = numberOf(answer['job_id']);
    const isQueued = id > 0 && (error === undefined || error.fault === 'away');
    if (isQueued) return id;
    if (error === undefined) {
      throw new SlurmError('away', 'slurmrestd answered a submit without a job id', 0);
    }
    if (id > 0) await this.cancel(id);
    throw error;
  }

  /** All jobs that the controller remembers: everybody's, about 4 kB each. */
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

  async close(): Promise<void> {
    await this.pool.close();
  }

  private async call(method: Method, path: string): Promise<Answer> {
    const { answer, error } = await this.exchange(method, path);
    if (error !== undefined) throw error;
    return answer;
  }

  private async exchange(
    method: Method,
    path: string,
    body?: unknown,
  ): Promise<{ answer: Answer; error: SlurmError | undefined }> {
    const { status, text } = await this.send(method, path, body);
    const answer = parseAnswer(text);
    const errors = Array.isArray(answer['errors']) ? (answer['errors'] as SlurmErrorEntry[]) : [];
    const error = errorOfAnswer(status, errors);
    // A wrong token shows as 401, as "Unspecified error", or as a broken connection to the controller.
    if (error?.fault === 'away') {
      this.lastFaultMs = this.clock.now();
      this.tokens.forget();
    }
    return { answer, error };
  }

  private async send(method: Method, path: string, body?: unknown) {
    const headers: Record<string, string> = { accept: 'application/json' };
    try {
      const token = await this.tokens.get();
      if (token !== undefined) {
        headers['x-slurm-user-name'] = this.settings.user;
        headers['x-slurm-user-token'] = token;
      }
      if (body !== undefined) headers['content-type'] = 'application/json';
      const answer = await this.pool.request({
        method,
        path: `/slurm/${VERSION}/${path}`,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(this.settings.timeoutMs),
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch (cause) {
      this.lastFaultMs = this.clock.now();
      const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).name;
      throw new SlurmError('away', `slurmrestd does not answer (${reason})`, 0, { cause });
    }
  }
}

/** Anything that is no JSON object (plain text of a refusal) is an empty answer; the status tells the rest. */
function parseAnswer(text: string): Answer {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
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
    // The reason alone says `JobHeldUser` for a start that failed.
    reason: `${textOf(row['state_reason'])} ${textOf(row['state_description'])}`.trim(),
    comment: textOf(row['comment']),
    user: textOf(row['user_name']),
    partition: textOf(row['partition']),
    node: textOf(row['batch_host']),
  };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

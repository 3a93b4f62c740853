import { createSecureContext } from 'node:tls';
import { Agent } from 'undici';
import { sleep } from '#src/kernel/index.js';
import type {
  ClaimAnswer,
  ReportAnswer,
  RunKey,
  RunReport,
} from '#src/jobs/workers/exchange/protocol.js';
import { Backoff } from '#src/worker/exchange/retry.js';
import { PlayedWorker } from './played-worker.js';
import { SITE, TestWorker } from './test-worker.js';
import { GridClient, type Answer } from './testbed.js';

const FACTS = { isolation: 'namespaces', processors: 1, ramMB: 2_000 };
const FREE = { processors: 1, ramMB: 2_000 };
/** As the program asks for. */
const WAIT_SECONDS = 25;
/** After an answer that says nothing. */
const PAUSE_MS = 500;

/** What the crowd is told, and how it is answered. */
class CrowdRecord {
  /** How often each run was permitted to start. */
  readonly starts = new Map<RunKey, number>();
  readonly holders = new Map<RunKey, Set<string>>();
  /** When a worker was told to stop a run; by `performance.now()`. */
  readonly stops = new Map<RunKey, number>();
  /** Runs that the service had nothing to do with any more, although the worker had them. */
  readonly forgotten: RunKey[] = [];
  /** What came in place of an answer, of requests that were sent after the last `forgive()`. */
  faults: Record<string, number> = {};
  private since = 0;

  /** What has gone wrong so far is as it should be. */
  forgive(): void {
    this.faults = {};
    this.since = performance.now();
  }

  fault(text: string, sentMs: number): void {
    if (sentMs >= this.since) this.faults[text] = (this.faults[text] ?? 0) + 1;
  }
}

/** Workers of one site and one address that run nothing: each has a claim open all the time, as the program does. */
export class WorkerCrowd {
  readonly record = new CrowdRecord();
  private readonly members: Member[] = [];

  constructor(private readonly place: { url: string; ca: string; secret: string }) {}

  get size(): number {
    return this.members.length;
  }

  /** There are so many: new ones register, and claim from then on. */
  growTo(count: number): void {
    const { url, ca, secret } = this.place;
    const secureContext = createSecureContext({ ca });
    while (this.members.length < count) {
      const agent = new Agent({ connect: { secureContext }, pipelining: 1 });
      const member = new Member(new GridClient(url, agent, undefined), secret, this.record);
      this.members.push(member);
      member.start();
    }
  }

  /** Claims that are sent and not answered: worker → number of the claim. */
  get open(): Map<string, number> {
    return new Map(
      this.members.filter(({ isWaiting }) => isWaiting).map(({ id, seq }) => [id, seq]),
    );
  }

  /** Runs whose programs would run now. */
  get running(): RunKey[] {
    return this.members.flatMap((member) => member.running);
  }

  /** Claims that were answered so far, of the worker with the fewest. */
  get leastAnswered(): number {
    return Math.min(...this.members.map(({ answered }) => answered));
  }

  /** All are cut off. */
  async end(): Promise<void> {
    await Promise.all(this.members.splice(0).map((member) => member.end()));
  }
}

/** One worker with one place for a job. */
class Member {
  isWaiting = false;
  answered = 0;
  private played: PlayedWorker | undefined;
  private readonly runs = new Map<RunKey, 'given' | 'running' | 'stopped'>();
  private readonly backoff = new Backoff();
  private readonly over = new AbortController();
  private life: Promise<void> | undefined;

  constructor(
    private readonly client: GridClient,
    private readonly secret: string,
    private readonly record: CrowdRecord,
  ) {}

  get id(): string {
    return this.played?.id ?? '';
  }

  get seq(): number {
    return this.played?.seq ?? 0;
  }

  get running(): RunKey[] {
    return [...this.runs].filter(([, state]) => state === 'running').map(([run]) => run);
  }

  start(): void {
    this.life = this.live();
  }

  async end(): Promise<void> {
    this.over.abort();
    await this.client.close();
    await this.life;
  }

  private async live(): Promise<void> {
    while (!this.over.signal.aborted) {
      const sentMs = performance.now();
      try {
        if (this.played) await this.claim(this.played);
        else this.played = await this.registered();
        this.backoff.reset();
      } catch (error) {
        if (this.over.signal.aborted) return;
        this.record.fault((error as Error).message, sentMs);
        const pause = this.backoff.next(error);
        await sleep(pause, { signal: this.over.signal }).catch(() => undefined);
      }
    }
  }

  private async registered(): Promise<PlayedWorker> {
    const worker = await TestWorker.of({ anonymous: this.client });
    accepted(await worker.register({ site: SITE, secret: this.secret, facts: FACTS }));
    return new PlayedWorker(worker);
  }

  private async claim(played: PlayedWorker): Promise<void> {
    const holding = [...this.runs.keys()];
    const stopping = holding.filter((run) => this.runs.get(run) === 'stopped');
    const most = holding.length === 0 ? 1 : 0;
    const asked = played.claim({ holding, stopping, most, free: FREE, wait: WAIT_SECONDS });
    const sentMs = performance.now();
    this.isWaiting = true;
    const answer = await asked.finally(() => (this.isWaiting = false));
    accepted(answer);
    this.answered += 1;
    this.take(played, answer.body);
    const { runs, stop, forget } = answer.body;
    if (runs.length + stop.length + forget.length > 0) await this.report(played);
    else if (performance.now() - sentMs < PAUSE_MS) {
      await sleep(PAUSE_MS, { signal: this.over.signal });
    }
  }

  private take({ id }: PlayedWorker, { runs, stop, forget }: ClaimAnswer): void {
    const { holders, stops, forgotten } = this.record;
    for (const { run } of runs) {
      holders.set(run, (holders.get(run) ?? new Set()).add(id));
      if (!this.runs.has(run)) this.runs.set(run, 'given');
    }
    for (const run of stop) {
      if (!this.runs.has(run)) continue;
      this.runs.set(run, 'stopped');
      stops.set(run, stops.get(run) ?? performance.now());
    }
    for (const run of forget) if (this.runs.delete(run)) forgotten.push(run);
  }

  /** Asks to start what is given, and tells the end of what is stopped. */
  private async report(played: PlayedWorker): Promise<void> {
    const reports = [...this.runs].flatMap(([run, state]): RunReport[] => {
      if (state === 'running') return [];
      return state === 'given'
        ? [{ run, kind: 'starting' }]
        : [{ run, kind: 'ended', exitCode: 143, wallSeconds: 1 }];
    });
    if (reports.length === 0) return;
    const answer = await played.call<{ answers: ReportAnswer[] }>('POST', 'reports', {
      json: { reports },
    });
    accepted(answer);
    for (const { run, go, forget } of answer.body.answers) {
      if (forget) this.runs.delete(run);
      if (!go) continue;
      this.runs.set(run, 'running');
      this.record.starts.set(run, (this.record.starts.get(run) ?? 0) + 1);
    }
  }
}

/** Throws for any answer but that of a success, with what is said to know who has refused. */
function accepted({ status, body, headers }: Answer): void {
  if (status < 300) return;
  const from = headers['x-request-id'] === undefined ? 'from the proxy' : '';
  throw new Error([status, body.code, body.detail, from].filter(Boolean).join(' '));
}

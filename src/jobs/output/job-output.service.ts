import { Inject, Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import {
  accepts,
  answerDownload,
  ClientDisconnected,
  clientSignal,
  type FileDownload,
  type HttpRequest,
  type HttpResponse,
} from '#src/http/index.js';
import { Readiness } from '#src/runtime/index.js';
import { JobAccess } from '../access/job-access.service.js';
import { OutputReads } from '../matching/output-reads.js';
import { outputName } from '../run/output-names.js';
import { planOf } from '../run/run-plan.js';
import { JobSandboxesService, noSuchFile } from '../sandbox/job-sandboxes.service.js';
import type { Job } from '../state/job.entity.js';
import { JobsRepository } from '../state/jobs.repository.js';
import { EventSink, PlainSink, type FollowSink, type OutputPosition } from './follow-sinks.js';
import { OutputFollower } from './output-follower.js';
import { placeOf } from './output-place.js';
import { runningFile } from './running-file.js';

const EVENTS = 'text/event-stream';
const RETRY_AFTER_SECONDS = 5;

/** Who asks for output, and where the answer goes. */
export interface OutputCaller {
  principal: Principal;
  request: HttpRequest;
  response: HttpResponse;
}

/** Hands out single files of what jobs write, while they run and afterwards, once or as they grow. */
@Injectable()
export class JobOutputService {
  /** Outputs that are followed now, by user. */
  private readonly followed = new Map<string, number>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly access: JobAccess,
    private readonly jobs: JobsRepository,
    private readonly reads: OutputReads,
    private readonly sandboxes: JobSandboxesService,
    private readonly readiness: Readiness,
  ) {}

  /**
   * Answers a file of the output; byte ranges are honoured. With `follow` what comes until the job ends, as events when
   * the client likes them better. Throws Problem 404 (also for files that the job does not give back), 403, 409 when
   * the job has not begun and is not followed, 416, 429 for too many that are followed, and 503 when the instance that
   * runs the job does not answer.
   */
  async send(
    caller: OutputCaller,
    path: { jid: string; name: string },
    follow: boolean,
  ): Promise<void> {
    const { principal, request, response } = caller;
    const job = await this.access.readSandbox(principal, path.jid, 'output');
    const name = await this.nameOf(job, path.name);
    const isEvents = accepts(request, EVENTS, 'application/octet-stream');
    const isOver = placeOf(job) === 'sandbox';
    if (!follow || (isOver && !isEvents)) {
      await answerDownload(request, response, await this.fileOf(job, name));
      return;
    }
    if (isOver) await this.sandboxes.fileOf(job, 'outputsandbox', name); // 404 is said before the answer begins
    await this.counted(principal.user, () => this.follow(caller, { job, name }, isEvents));
  }

  private async nameOf(job: Job, asked: string): Promise<string> {
    const plan = planOf({ manifest: (await this.jobs.manifest(job.jid)) ?? {} });
    const name = outputName(plan, asked);
    if (name !== undefined) return name;
    throw noSuchFile(
      `Job ${job.jid} gives back no file of that name: OutputSandbox does not name it`,
    );
  }

  private async fileOf(job: Job, name: string): Promise<FileDownload> {
    const place = placeOf(job);
    if (place === 'sandbox') return this.sandboxes.fileOf(job, 'outputsandbox', name);
    if (place === 'run') {
      const file = await runningFile(this.reads, job, name);
      if (file) return file;
      throw noSuchFile(`Job ${job.jid} has written no file of that name yet`);
    }
    const detail = `Job ${job.jid} is ${job.status}: it has written nothing yet`;
    throw new Problem('job.state-conflict', detail, { members: { jobStatus: job.status } });
  }

  private async follow(
    { principal, request, response }: OutputCaller,
    { job, name }: { job: Job; name: string },
    isEvents: boolean,
  ): Promise<void> {
    const from = isEvents ? resumedFrom(request, job) : { attempt: job.attempt, position: 0 };
    const sink: FollowSink = isEvents ? new EventSink(response) : new PlainSink(response, name);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const signal = AbortSignal.any([clientSignal(request), this.readiness.stopping]);
    const following = { principal, request, job, name, from, signal };
    const { access, reads, sandboxes } = this;
    try {
      await new OutputFollower({ access, reads, sandboxes }, following, sink).run();
    } catch (error) {
      sink.breakOff();
      if (!signal.aborted && !(error instanceof ClientDisconnected)) throw error;
    }
  }

  private async counted(user: string, work: () => Promise<void>): Promise<void> {
    const others = this.followed.get(user) ?? 0;
    const { callerFollows } = this.config;
    if (others >= callerFollows) {
      const detail = `You follow ${callerFollows} outputs already`;
      throw new Problem('rate.limited', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.followed.set(user, others + 1);
    try {
      await work();
    } finally {
      const left = (this.followed.get(user) ?? 1) - 1;
      if (left > 0) this.followed.set(user, left);
      else this.followed.delete(user);
    }
  }
}

/** Where `Last-Event-ID` says that the client is; the beginning without it. Throws Problem 400. */
function resumedFrom({ headers }: HttpRequest, { attempt }: Job): OutputPosition {
  const { 'last-event-id': id = '' } = headers;
  if (id === '') return { attempt, position: 0 };
  const [, run, position] = /^(\d{1,9})\.(\d{1,15})$/.exec(String(id)) ?? [];
  if (run !== undefined) return { attempt: Number(run), position: Number(position) };
  throw Problem.invalidField('Last-Event-ID', 'is not a position of an output');
}

import { Inject, Injectable } from '@nestjs/common';
import { Problem, type Clock, CLOCK } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed, Database, type Transaction } from '#src/database/index.js';
import { JobAccess, jobNotFound } from '../access/job-access.service.js';
import type { Job } from '../state/job.entity.js';
import { parseJid, type Jid, shownSite } from '../state/job.js';
import { JobPolicy } from '../access/job.policy.js';
import type { BulkKillResult } from './job-control.response.js';
import { WaitingLimits } from '../limits/waiting-limits.js';
import { JobsRepository, type Move, type Step } from '../state/jobs.repository.js';
import { STOP_CHANNEL, WORK_CHANNEL } from '../state/admission.js';
import { MINOR, TO_START, type JobState } from '../state/job-state.js';
import {
  DELETABLE_STATES,
  KILLABLE_STATES,
  RESCHEDULABLE_STATES,
} from '../state/job-transitions.js';

const MAX_BULK = 1_000;
/** Jobs of which each is told by itself that it is stopped. */
const MOST_TOLD = 100;

/** Kill, delete and reschedule. The move in the database decides; executors follow it within seconds. */
@Injectable()
export class JobControlService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly access: JobAccess,
    private readonly policy: JobPolicy,
    private readonly repository: JobsRepository,
    private readonly database: Database,
    private readonly limits: WaitingLimits,
  ) {}

  /**
   * Kills a job; an already killed one is fine. With `purge` the job is Deleted afterwards. Throws Problem 404,
   * 403, and 409 with the state when it cannot be killed.
   */
  async kill(principal: Principal, jid: string, purge: boolean): Promise<Jid> {
    const job = await this.access.control(principal, jid);
    const [result] = await this.killAll([job], principal, purge);
    if (result?.status === 409) throw await this.conflict(job.jid, purge ? 'deleted' : 'killed');
    return job.jid;
  }

  /** Kills many; answers a result for each. Throws Problem 400 for a malformed id or none, and then kills none. */
  async killMany(
    principal: Principal,
    texts: readonly string[],
    purge: boolean,
  ): Promise<Record<string, BulkKillResult>> {
    const jids = [...new Set(texts)].map((text) => {
      const jid = parseJid(text);
      if (jid === undefined) throw Problem.invalidField('jid', 'is not a job id');
      return jid;
    });
    if (jids.length === 0) throw Problem.invalidField('jid', 'is missing: name the jobs to kill');
    if (jids.length > MAX_BULK) {
      throw Problem.invalidField('jid', `names more than ${MAX_BULK} jobs`);
    }
    const known = new Map(
      (await this.repository.findAll(jids)).map((job) => [String(job.jid), job]),
    );
    const results: Record<string, BulkKillResult> = {};
    const allowed: Job[] = [];
    for (const jid of jids) {
      const job = known.get(String(jid));
      if (!job || !this.policy.mayRead(principal, job)) {
        results[String(jid)] = { status: 404, detail: jobNotFound(String(jid)).detail };
      } else if (!this.policy.mayControl(principal, job)) {
        results[String(jid)] = { status: 403, detail: `Job ${jid} is not yours to change` };
      } else allowed.push(job);
    }
    const outcomes = await this.killAll(allowed, principal, purge);
    allowed.forEach((job, index) => {
      results[String(job.jid)] = outcomes[index] ?? { status: 409 };
    });
    return Object.fromEntries(
      jids.map((jid) => [String(jid), results[String(jid)] as BulkKillResult]),
    );
  }

  /**
   * Sends a job back to the queue and counts it. Throws Problem 404, 403, 409 when its state does not allow it
   * or it has been rescheduled as often as it may, and 429 when so many wait that no other one may.
   */
  async reschedule(principal: Principal, jid: string): Promise<Jid> {
    const job = await this.access.control(principal, jid);
    if (job.reschedules >= this.config.maxReschedules) {
      const detail = `${MINOR.maxReschedules}: job ${job.jid} was rescheduled ${job.reschedules} times`;
      throw new Problem('job.state-conflict', detail, { members: { jobStatus: job.status } });
    }
    if (job.heldBy !== null && job.status === 'Waiting') {
      const detail =
        job.heldBy === 'jobs'
          ? `Job ${job.jid} waits for other jobs`
          : `Job ${job.jid} is held: release it first`;
      throw new Problem('job.state-conflict', detail, { members: { jobStatus: job.status } });
    }
    const move: Move = {
      jid: job.jid,
      steps: [
        { to: 'Rescheduled', minor: MINOR.rescheduled, app: 'Unknown' },
        { to: 'Received', minor: MINOR.rescheduled, app: 'Unknown' },
      ],
      from: RESCHEDULABLE_STATES,
      source: principal.user,
      set: { rescheduled: true, site: shownSite(job.wantedSites) },
    };
    const moved = await this.database.transaction(async (transaction) => {
      await this.limits.begin(job, transaction);
      const [now] = await this.repository.findAll([job.jid], transaction);
      // One that waits already is counted already, and one that may not be sent back needs no room.
      const status = now?.status ?? job.status;
      if (RESCHEDULABLE_STATES.includes(status) && !TO_START.includes(status)) {
        const { over } = await this.limits.room(job, [job], transaction);
        if (over) throw over;
      }
      return this.moveAndTell([move], transaction);
    });
    if (moved.length === 0) throw await this.conflict(job.jid, 'rescheduled');
    return job.jid;
  }

  private async killAll(
    jobs: readonly Job[],
    principal: Principal,
    purge: boolean,
  ): Promise<BulkKillResult[]> {
    const source = principal.user;
    const killed = new Set(
      await this.moveAndNotify(
        jobs.map(({ jid }) =>
          moveTo(jid, 'Killed', MINOR.marked, { source, from: KILLABLE_STATES }),
        ),
      ),
    );
    if (purge) {
      await this.moveAndNotify(
        jobs.map(({ jid }) =>
          moveTo(jid, 'Deleted', MINOR.deleted, { source, from: DELETABLE_STATES }),
        ),
      );
    }
    const others = jobs.filter(({ jid }) => purge || !killed.has(jid)).map(({ jid }) => jid);
    const now = others.length > 0 ? await this.repository.findAll(others) : [];
    const states = new Map(now.map((job) => [String(job.jid), job.status]));
    const wanted: JobState = purge ? 'Deleted' : 'Killed';
    return jobs.map(({ jid }) => {
      const state = states.get(String(jid));
      if (state === undefined || state === wanted) return { status: 200 };
      return { status: 409, detail: `Job ${jid} is ${state}` };
    });
  }

  private async moveAndNotify(moves: readonly Move[]): Promise<Jid[]> {
    if (moves.length === 0) return [];
    return this.database.transaction((transaction) => this.moveAndTell(moves, transaction));
  }

  private async moveAndTell(moves: readonly Move[], transaction: Transaction): Promise<Jid[]> {
    const moved = await this.repository.move(moves, new Date(this.clock.now()), transaction);
    for (const jid of moved.slice(0, MOST_TOLD)) {
      await transaction.query(ChangeFeed.notification(STOP_CHANNEL, String(jid)));
    }
    // The others are found by a look.
    if (moved.length > MOST_TOLD) await transaction.query(ChangeFeed.notification(STOP_CHANNEL));
    if (moved.length > 0) await transaction.query(ChangeFeed.notification(WORK_CHANNEL));
    return moved;
  }

  private async conflict(jid: Jid, verb: string): Promise<Problem> {
    const state = (await this.repository.find(jid))?.status ?? 'gone';
    const detail = `Job ${jid} is ${state} and cannot be ${verb}`;
    return new Problem('job.state-conflict', detail, { members: { jobStatus: state } });
  }
}

function moveTo(
  jid: Jid,
  to: Step['to'],
  minor: string,
  rest: { source: string; from: readonly JobState[] },
): Move {
  return { jid, steps: [{ to, minor }], ...rest };
}

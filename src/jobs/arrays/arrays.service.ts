import { Inject, Injectable } from '@nestjs/common';
import { Problem, type Clock, CLOCK } from '#src/kernel/index.js';
import { actorOf, requestOf, type Principal } from '#src/auth/index.js';
import { Audit } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed, Database, type Transaction } from '#src/database/index.js';
import { JobPolicy } from '../access/job.policy.js';
import { STOP_CHANNEL, WORK_CHANNEL } from '../state/admission.js';
import { MINOR, type JobState } from '../state/job-state.js';
import { DELETABLE_STATES, KILLABLE_STATES } from '../state/job-transitions.js';
import { parseJid, shownSite, type Jid } from '../state/job.js';
import { JobsRepository, type Move } from '../state/jobs.repository.js';
import { WaitingLimits } from '../limits/waiting-limits.js';
import {
  ArrayResponse,
  type ArrayKillResponse,
  type ArrayRetryResponse,
} from './arrays.response.js';
import { ArraysRepository, type ArrayMember } from './arrays.repository.js';
import type { JobArrayEntity } from './job-array.entity.js';

/** Members that one transaction moves: about 60 ms of the database, in which others wait for these rows only. */
const SLICE = 500;
/** Runs that are ended at once; the others are found by their executors within seconds. */
const MOST_TOLD = 100;

/** Arrays for those who may see their members: counts, kill, retry. Rights are those of the members, which are all alike. */
@Injectable()
export class ArraysService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly policy: JobPolicy,
    private readonly arrays: ArraysRepository,
    private readonly jobs: JobsRepository,
    private readonly database: Database,
    private readonly audit: Audit,
    private readonly limits: WaitingLimits,
  ) {}

  /** The array and its counts. Throws Problem 404. */
  async get(principal: Principal, arrayId: string): Promise<ArrayResponse> {
    const array = await this.find(principal, arrayId);
    if (this.policy.readsByPrivilege(principal, array, 'record')) {
      const origin = { request: requestOf(principal), actor: actorOf(principal) };
      const details = { what: 'array', jobs: array.total, owner: array.owner };
      this.audit.done('job.read', { ...details, arrayId: String(array.id) }, origin);
    }
    const states = await this.arrays.states(array);
    return ArrayResponse.from(
      array,
      Object.fromEntries(states.map(({ status, total }) => [status, total])),
    );
  }

  /**
   * Kills every member whose state allows it; with `purge` those that have ended are deleted. Slices are transactions of
   * their own: what was done before an interruption stays done, and a repetition does the rest. Throws Problem 404, 403.
   */
  async kill(principal: Principal, arrayId: string, purge: boolean): Promise<ArrayKillResponse> {
    const array = await this.control(principal, arrayId);
    const { id } = array;
    const source = principal.user;
    const to = (state: 'Killed' | 'Deleted', from: readonly JobState[]): Promise<number> =>
      this.moveAll(id, from, ({ jid }) => ({
        jid,
        steps: [{ to: state, minor: state === 'Killed' ? MINOR.marked : MINOR.deleted }],
        from,
        source,
      }));
    const killed = await to('Killed', KILLABLE_STATES);
    return { arrayId: id, killed: purge ? await to('Deleted', DELETABLE_STATES) : killed };
  }

  /**
   * Sends the failed members back to the queue and counts it as a reschedule: as many as limits of waiting jobs have room for. Those that
   * were rescheduled as often as they may, and those for which there is no room, stay failed and are counted in the answer. Slices are
   * transactions of their own. Throws Problem 404, 403, and 429 when there is no room for a single one.
   */
  async retry(principal: Principal, arrayId: string): Promise<ArrayRetryResponse> {
    const array = await this.control(principal, arrayId);
    const { id } = array;
    const answer = { arrayId: id, retried: 0, refused: 0, left: 0 };
    let over: Problem | undefined;
    for (let after: Jid | undefined = 0; after !== undefined;) {
      const slice: RetriedSlice = await this.retrySlice(principal, array, after);
      after = slice.last;
      answer.retried += slice.retried;
      answer.refused += slice.refused;
      answer.left += slice.left;
      over ??= slice.over;
    }
    if (over && answer.retried === 0) throw over;
    return answer;
  }

  private async retrySlice(
    { user }: Principal,
    array: JobArrayEntity,
    after: Jid,
  ): Promise<RetriedSlice> {
    return this.database.transaction(async (transaction) => {
      await this.limits.begin(array, transaction);
      const wanted = { id: array.id, states: ['Failed'] as const, after, limit: SLICE };
      const members = await this.arrays.members(wanted, transaction);
      const allowed = members.filter(({ reschedules }) => reschedules < this.config.maxReschedules);
      const { count, over } = await this.limits.room(array, allowed, transaction);
      const moves = allowed.slice(0, count).map((member) => retryMove(member, user));
      const retried = await this.move(moves, transaction);
      return {
        last: members.at(-1)?.jid,
        retried,
        refused: members.length - allowed.length,
        left: allowed.length - count,
        over,
      };
    });
  }

  /** Moves the members that are in these states, slice by slice, each at most once; answers how many have moved. */
  private async moveAll(
    id: Jid,
    states: readonly JobState[],
    moveOf: (member: ArrayMember) => Move,
  ): Promise<number> {
    let moved = 0;
    let told = 0;
    let after: Jid = 0;
    for (;;) {
      const members = await this.arrays.members({ id, states, after, limit: SLICE });
      const last = members.at(-1);
      if (!last) return moved;
      after = last.jid;
      const held = members.filter(({ isHeld }) => isHeld);
      const running = held.slice(0, MOST_TOLD - told);
      told += running.length;
      moved += await this.database.transaction(async (transaction) => {
        for (const { jid } of running) {
          await transaction.query(ChangeFeed.notification(STOP_CHANNEL, String(jid)));
        }
        // The others are found by a look.
        if (held.length > running.length) {
          await transaction.query(ChangeFeed.notification(STOP_CHANNEL));
        }
        return this.move(members.map(moveOf), transaction);
      });
    }
  }

  private async move(moves: readonly Move[], transaction: Transaction): Promise<number> {
    if (moves.length === 0) return 0;
    const moved = await this.jobs.move(moves, new Date(this.clock.now()), transaction);
    if (moved.length > 0) await transaction.query(ChangeFeed.notification(WORK_CHANNEL));
    return moved.length;
  }

  private async control(principal: Principal, arrayId: string): Promise<JobArrayEntity> {
    const array = await this.find(principal, arrayId);
    if (this.policy.mayControl(principal, array)) return array;
    throw new Problem('job.forbidden', `Array ${array.id} is not yours to change`);
  }

  private async find(principal: Principal, arrayId: string): Promise<JobArrayEntity> {
    const id = parseJid(arrayId);
    const array = id === undefined ? undefined : await this.arrays.find(id);
    if (array && this.policy.mayRead(principal, array)) return array;
    const shown = /^\d{1,19}$/.test(arrayId) ? `Array ${arrayId} does not exist` : 'No such array';
    throw new Problem('job.not-found', shown);
  }
}

/** What became of a slice of failed members; `last` is undefined behind the end. */
interface RetriedSlice {
  last: Jid | undefined;
  retried: number;
  refused: number;
  left: number;
  over: Problem | undefined;
}

function retryMove({ jid, wantedSites }: ArrayMember, source: string): Move {
  return {
    jid,
    steps: [
      { to: 'Rescheduled', minor: MINOR.rescheduled, app: 'Unknown' },
      { to: 'Received', minor: MINOR.rescheduled, app: 'Unknown' },
    ],
    from: ['Failed'],
    source,
    set: { rescheduled: true, site: shownSite(wantedSites) },
  };
}

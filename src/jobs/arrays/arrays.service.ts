import { Inject, Injectable } from '@nestjs/common';
import { Problem, type Clock } from '#src/kernel/index.js';
import { actorOf, requestOf, type Principal } from '#src/auth/index.js';
import { Audit, ChangeFeed, CLOCK, CONFIG, Database, type Config } from '#src/platform/index.js';
import { JobPolicy } from '../access/job.policy.js';
import { STOP_CHANNEL, WORK_CHANNEL } from '../state/admission.js';
import { MINOR, type JobState } from '../state/job-state.js';
import { DELETABLE_STATES, KILLABLE_STATES } from '../state/job-transitions.js';
import { parseJid, shownSite, type Jid } from '../state/job.js';
import { JobsRepository, type Move } from '../state/jobs.repository.js';
import { returning, WaitingLimits, type Newcomers } from '../limits/waiting-limits.js';
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
      this.moveAll(array, { states: from }, ({ jid }) => ({
        jid,
        steps: [{ to: state, minor: state === 'Killed' ? MINOR.marked : MINOR.deleted }],
        from,
        source,
      }));
    const killed = await to('Killed', KILLABLE_STATES);
    return { arrayId: id, killed: purge ? await to('Deleted', DELETABLE_STATES) : killed };
  }

  /**
   * Sends every failed member back to the queue and counts it as a reschedule; those that were rescheduled as often as
   * they may stay failed and are counted in the answer. Throws Problem 404, 403, and 429 when more would wait than may: then
   * nothing was sent back, unless others came to wait meanwhile, and a repetition does the rest.
   */
  async retry(principal: Principal, arrayId: string): Promise<ArrayRetryResponse> {
    const array = await this.control(principal, arrayId);
    const { id } = array;
    await this.requireRoom(array);
    let refused = 0;
    const retried = await this.moveAll(
      array,
      { states: ['Failed'], isReturn: true },
      ({ jid, wantedSites, reschedules }) => {
        if (reschedules >= this.config.maxReschedules) {
          refused += 1;
          return undefined;
        }
        return {
          jid,
          steps: [
            { to: 'Rescheduled', minor: MINOR.rescheduled, app: 'Unknown' },
            { to: 'Received', minor: MINOR.rescheduled },
          ],
          from: ['Failed'],
          source: principal.user,
          set: { rescheduled: true, site: shownSite(wantedSites) },
        };
      },
    );
    return { arrayId: id, retried, refused };
  }

  /** Throws Problem 429 when more of the array would wait than may. */
  private async requireRoom(array: JobArrayEntity): Promise<void> {
    const { count, bySite } = await this.arrays.retriable(array.id, this.config.maxReschedules);
    if (count > 0) await this.limits.require({ ...array, count, bySite });
  }

  /**
   * Moves the members that are in these states, slice by slice, each at most once; answers how many have moved. `isReturn`: they are
   * to wait again, as limits allow.
   */
  private async moveAll(
    array: JobArrayEntity,
    { states, isReturn = false }: { states: readonly JobState[]; isReturn?: boolean },
    moveOf: (member: ArrayMember) => Move | undefined,
  ): Promise<number> {
    const { id } = array;
    let moved = 0;
    let told = 0;
    let after: Jid = 0;
    for (;;) {
      const members = await this.arrays.members({ id, states, after, limit: SLICE });
      const last = members.at(-1);
      if (!last) return moved;
      after = last.jid;
      const chosen = members.flatMap((member) => {
        const move = moveOf(member);
        return move ? [{ member, move }] : [];
      });
      const running = members.filter(({ isHeld }) => isHeld).slice(0, MOST_TOLD - told);
      told += running.length;
      const moves = chosen.map(({ move }) => move);
      const newcomers =
        isReturn && moves.length > 0
          ? returning(
              array,
              chosen.map(({ member }) => member),
            )
          : undefined;
      moved += await this.moveSlice(moves, { running, newcomers });
    }
  }

  private async moveSlice(
    moves: Move[],
    { running, newcomers }: { running: readonly ArrayMember[]; newcomers: Newcomers | undefined },
  ): Promise<number> {
    if (moves.length === 0) return 0;
    const now = new Date(this.clock.now());
    return this.database.transaction(async (transaction) => {
      if (newcomers) await this.limits.require(newcomers, transaction);
      const moved = await this.jobs.move(moves, now, transaction);
      for (const { jid } of running) {
        await transaction.query(ChangeFeed.notification(STOP_CHANNEL, String(jid)));
      }
      if (moved.length > 0) await transaction.query(ChangeFeed.notification(WORK_CHANNEL));
      return moved.length;
    });
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

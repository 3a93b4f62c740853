import { Injectable } from '@nestjs/common';
import { stringifyJson } from '#src/kernel/index.js';
import { EventLog, Feed, type LoggedEvent } from '#src/events/index.js';
import type { Job } from '../state/job.entity.js';
import { JobsRepository } from '../state/jobs.repository.js';
import { loggedMove } from '../state/logged-move.sql.js';

/** One move of a job. */
export interface JobEvent {
  position: number;
  /** The job as it was after the move; what moves do not change is as it was when the event was read. */
  job: Job;
  /** The job as it was before; undefined for a new one. */
  before: Job | undefined;
}

/** The moves of all jobs, one after the other, for this instance. */
@Injectable()
export class JobFeed extends Feed<JobEvent> {
  constructor(log: EventLog, repository: JobsRepository) {
    super(log, 'jobs', (events) => withJobs(events, repository));
  }
}

async function withJobs(
  events: readonly LoggedEvent[],
  repository: JobsRepository,
): Promise<JobEvent[]> {
  if (events.length === 0) return [];
  const moves = events.map(loggedMove);
  const jobs = new Map<string, Job>();
  for (const job of await repository.findAll([...new Set(moves.map(({ jid }) => jid))])) {
    jobs.set(String(job.jid), job);
  }
  return moves.map(({ position, jid, after, before }) => {
    const job = jobs.get(String(jid));
    if (!job) throw new Error(`job ${jid} is in the event log and nowhere else`);
    return { position, job: { ...job, ...after }, before: before && { ...job, ...before } };
  });
}

const TEXTS = new WeakMap<JobEvent, string>();

/** What is sent of a move, as JSON: made once for all who watch. */
export function jobEventText(event: JobEvent): string {
  const known = TEXTS.get(event);
  if (known !== undefined) return known;
  const text = stringifyJson(jobEventData(event));
  TEXTS.set(event, text);
  return text;
}

/** What is sent of a move. */
export function jobEventData({ job }: JobEvent): Record<string, unknown> {
  return {
    jid: job.jid,
    status: job.status,
    minorStatus: job.minorStatus,
    appStatus: job.appStatus,
    site: job.site,
    lastUpdate: job.lastUpdate.toISOString(),
  };
}

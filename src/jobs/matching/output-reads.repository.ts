import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import { ExpiredRows } from '#src/runtime/index.js';
import type { OutputPart, OutputWish } from '../run/output-reader.js';
import type { Jid } from '../state/job.js';
import { JobOutputReadEntity } from './job-output-read.entity.js';

/** Whoever has asked does not wait for longer. */
const KEPT_SECONDS = 60;

type AnswerRow = Pick<JobOutputReadEntity, 'sizeBytes' | 'file' | 'modifiedMs'> & {
  start: number | null;
  content: Buffer | null;
};

/** Questions for output of jobs that other instances run, and their answers, through the database. */
@Injectable()
export class OutputReadsRepository implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly expiredRows: ExpiredRows,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(JobOutputReadEntity);
  }

  /** Writes a question down; answers its id. */
  async ask(jid: Jid, { name, start, mostBytes }: OutputWish): Promise<string> {
    const [row] = await this.database.query<{ id: number | bigint }>({
      name: 'jobs-output-ask',
      text: `insert into job_output_reads (jid, name, wanted_from, most_bytes, expires_at)
        values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => ${KEPT_SECONDS})) returning id`,
      values: [String(jid), name, start, mostBytes],
    });
    return String(row?.id);
  }

  /** An open question. */
  async question(id: string): Promise<(OutputWish & { jid: Jid }) | undefined> {
    const [row] = await this.database.query<OutputWish & { jid: Jid }>({
      name: 'jobs-output-question',
      text: `select jid, name, wanted_from as start, most_bytes as "mostBytes" from job_output_reads
        where id = $1 and answered_at is null`,
      values: [id],
    });
    return row;
  }

  /** The executor that has the run of an open question; undefined when nobody has it. */
  async executorOf(id: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ executor: string | null }>({
      name: 'jobs-output-executor',
      text: `select j.executor from job_output_reads r join jobs j on j.jid = r.jid
        where r.id = $1 and r.answered_at is null`,
      values: [id],
    });
    return row?.executor ?? undefined;
  }

  /** Open questions for output of the runs that an executor has, the oldest first. */
  async questionsOf(
    executor: string,
    most: number,
  ): Promise<(OutputWish & { id: string; run: string })[]> {
    return this.database.query({
      name: 'jobs-output-questions',
      text: `select r.id::text, j.jid || '.' || j.attempt as run, r.name, r.wanted_from as start,
          r.most_bytes as "mostBytes"
        from job_output_reads r join jobs j on j.jid = r.jid
        where j.executor = $1 and r.answered_at is null and r.expires_at > clock_timestamp()
        order by r.id limit $2`,
      values: [executor, most],
    });
  }

  /** Answers a question; undefined when there is no such file. With an executor only when that has the run. */
  async answer(id: string, part: OutputPart | undefined, executor?: string): Promise<void> {
    const { sizeBytes = null, file = null, modifiedMs = null } = part ?? {};
    await this.database.execute({
      name: 'jobs-output-answer',
      text: `update job_output_reads set answered_at = clock_timestamp(), size_bytes = $2, file = $3,
          modified_ms = $4, content_from = $5, content = $6
        where id = $1 and answered_at is null and ($7::text is null or exists (
          select from jobs j where j.jid = job_output_reads.jid and j.executor = $7))`,
      values: [
        ...[id, sizeBytes, file, modifiedMs, part?.start ?? null, part?.content ?? null],
        executor ?? null,
      ],
    });
  }

  /** Takes the answer away, once it is there. */
  async take(id: string): Promise<{ part: OutputPart | undefined } | undefined> {
    const [row] = await this.database.query<AnswerRow>({
      name: 'jobs-output-take',
      text: `delete from job_output_reads where id = $1 and answered_at is not null
        returning size_bytes as "sizeBytes", file, modified_ms as "modifiedMs",
          content_from as start, content`,
      values: [id],
    });
    return row && { part: partOf(row) };
  }
}

function partOf({
  sizeBytes,
  file,
  modifiedMs,
  start,
  content,
}: AnswerRow): OutputPart | undefined {
  if (sizeBytes === null) return undefined;
  return {
    sizeBytes: Number(sizeBytes),
    file: file ?? '',
    modifiedMs: modifiedMs ?? 0,
    start: start ?? 0,
    content: content ?? Buffer.alloc(0),
  };
}

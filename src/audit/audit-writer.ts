import { Problem, type Clock } from '#src/kernel/index.js';
import { sqlState } from '#src/database/index.js';
import type { AuditLine } from './audit.js';
import type { Logger, Metrics } from '#src/runtime/index.js';
import type { AuditEventsRepository, StoredAuditLine } from './audit-events.repository.js';
import { timeOrderedId } from './time-ordered-id.js';

/** Lines of one statement. */
const AT_ONCE = 500;
/** Lines that wait while the database is away, and characters of their fields. */
const MOST_LINES = 10_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** Of one field: callers choose how long some are. */
const LONGEST_FIELD = 4_000;
const LONGEST_COLUMN = 400;

/** A line that the database refuses for what is in it: bad data, a broken rule, too large for an index. */
const FAULTS_OF_LINES = /^(22|23|54)/;

/** Where lines are written to, and what is told of it. */
export interface AuditWriterParts {
  /** Host and port of the server, or the host on which a command runs. */
  instance: string;
  repository: Pick<AuditEventsRepository, 'insert'>;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}

/**
 * Gathers lines of the audit trail and writes them into the database, many in one statement. Nobody waits for it and nothing
 * fails by it: what it cannot keep is in the log all the same.
 */
export class AuditWriter {
  private readonly lines: StoredAuditLine[] = [];
  private readonly drops;
  private characters = 0;
  private dropped = 0;
  /** Called when there is enough for a statement. */
  onFull: (() => void) | undefined;

  constructor(private readonly parts: AuditWriterParts) {
    const { metrics } = parts;
    this.drops = metrics.counter(
      'gridgate_audit_dropped_total',
      'Lines of the audit trail that are in the log only, because the database did not take them',
    );
    metrics.gauge(
      'gridgate_audit_waiting',
      'Lines of the audit trail that wait for the database',
      [],
      (gauge) => gauge.set(this.lines.length),
    );
  }

  /** Takes a line; never throws. */
  keep(line: AuditLine): void {
    const stored = this.storedOf(line);
    const { length } = stored.details;
    if (this.lines.length >= MOST_LINES || this.characters + length > MOST_CHARACTERS) {
      if (this.dropped === 0) {
        this.parts.logger.warn('lines of the audit trail are from now on in the log only');
      }
      return this.drop(1);
    }
    this.characters += length;
    if (this.lines.push(stored) % AT_ONCE === 0) this.onFull?.();
  }

  /** Writes one statement of lines, the oldest; answers `more` when there is enough for another. Throws when it fails. */
  async write(): Promise<'more' | undefined> {
    const batch = this.lines.slice(0, AT_ONCE);
    if (batch.length === 0) return undefined;
    await this.insert(batch);
    this.forget(batch.length);
    this.tellDrops();
    return this.lines.length >= AT_ONCE ? 'more' : undefined;
  }

  /** Writes everything; what the database does not take now is dropped. */
  async close(): Promise<void> {
    try {
      while (this.lines.length > 0) await this.write();
    } catch (error) {
      this.parts.logger.warn({ err: error }, 'the audit trail could not be written at the end');
      this.drop(this.lines.length);
      this.forget(this.lines.length);
    }
    this.tellDrops();
  }

  private async insert(batch: readonly StoredAuditLine[]): Promise<void> {
    try {
      await this.parts.repository.insert(batch);
    } catch (error) {
      if (error instanceof Problem || !FAULTS_OF_LINES.test(sqlState(error) ?? '')) throw error;
      if (batch.length > 1) for (const line of batch) await this.insert([line]);
      else {
        this.parts.logger.error({ err: error }, 'a line of the audit trail cannot be stored');
        this.drop(1);
      }
    }
  }

  private forget(count: number): void {
    for (const { details } of this.lines.splice(0, count)) this.characters -= details.length;
  }

  private drop(count: number): void {
    this.dropped += count;
    this.drops.inc(count);
  }

  private tellDrops(): void {
    if (this.dropped === 0) return;
    const lines = this.dropped;
    this.dropped = 0;
    this.parts.logger.warn({ lines }, 'lines of the audit trail are in the log only');
  }

  private storedOf({
    event,
    outcome,
    user,
    group,
    client,
    ...details
  }: AuditLine): StoredAuditLine {
    const now = this.parts.clock.now();
    return {
      id: timeOrderedId(now),
      time: new Date(now),
      instance: this.parts.instance,
      event,
      outcome,
      user: columnOf(user),
      group: columnOf(group),
      client: columnOf(client),
      details: storableText(details),
    };
  }
}

function columnOf(value: unknown): string | null {
  return typeof value === 'string' ? clean(value, LONGEST_COLUMN) : null;
}

/** Nearly every line is storable as it is, which its text says. */
function storableText(details: object): string {
  const text = plainText(details);
  if (text !== undefined && text.length <= LONGEST_FIELD && !NOT_STORABLE.test(text)) return text;
  return JSON.stringify(details, (_key, value: unknown) => storable(value));
}

/** Undefined for what has members that JSON has not. */
function plainText(details: object): string | undefined {
  try {
    return JSON.stringify(details);
  } catch {
    return undefined;
  }
}

/** NUL and halves of characters, as JSON writes them. */
const NOT_STORABLE = /\\u(?:0000|d[89a-f])/i;

function storable(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'string' ? clean(value, LONGEST_FIELD) : value;
}

const PRINTABLE_ASCII = /^[ -~]*$/;

/** PostgreSQL takes neither NUL nor halves of characters. */
function clean(text: string, longest: number): string {
  if (text.length <= longest && PRINTABLE_ASCII.test(text)) return text;
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return short.replace(/\0|\p{Surrogate}/gu, '\ufffd');
}

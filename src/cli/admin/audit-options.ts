import { CommandError } from '../terminal/command-error.js';
import type { Printing } from '../terminal/output-format.js';

/** What `gridgate audit` is asked for. */
export interface AuditOptions extends Printing {
  event: string[];
  user: string[];
  where: string[];
  outcome?: string;
  since?: string;
  until?: string;
  limit: string;
}

/** The same with its values read. */
export interface AuditWish {
  events: string[];
  users: string[];
  where: [key: string, value: string][];
  outcome: string | undefined;
  since: Date | undefined;
  until: Date | undefined;
  limit: number;
}

/** Throws CommandError for what cannot be read. */
export function readWish(options: AuditOptions): AuditWish {
  const { event, user, outcome } = options;
  const where = options.where.map((word): [string, string] => {
    const at = word.indexOf('=');
    if (at < 1) throw new CommandError(`--where ${word}: key=value is expected`, 2);
    return [word.slice(0, at), word.slice(at + 1)];
  });
  if (outcome !== undefined && outcome !== 'done' && outcome !== 'refused') {
    throw new CommandError(`--outcome ${outcome}: done or refused is expected`, 2);
  }
  const [since, until] = [timeOf('--since', options.since), timeOf('--until', options.until)];
  const limit = limitOf(options.limit);
  return { events: event, users: user, where, outcome, since, until, limit };
}

function timeOf(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new CommandError(
    `${option} ${text} is no day or instant such as 2026-11-23 or 2026-11-23T10:00:00Z`,
    2,
  );
}

function limitOf(word: string): number {
  if (/^[1-9]\d{0,5}$/.test(word)) return Number(word);
  throw new CommandError(`--limit ${word} is no number from 1 to 999999`, 2);
}

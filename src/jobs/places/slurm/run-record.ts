import { shownFirstLine } from '../../run/script-head.js';

/** How a run began, as the wrapper wrote it on the node. */
export interface StartRecord {
  begunAt: Date;
  host: string;
  /** Slurm's id of the job (of the task's own, not of its array). */
  batchId: string;
}

/** Why the wrapper ended the payload, or did not start it; empty when the payload ended by itself. */
export type EndReason =
  '' | 'term' | 'cancel' | 'wall' | 'not-found' | 'no-interpreter' | 'no-directory';

/** How a run ended, as the wrapper wrote it on the node: what Slurm says of exit codes is not always true. */
export interface ExitRecord extends StartRecord {
  /** Exit code of the payload; 128 + n for signal n, as shells say it. */
  status: number;
  reason: EndReason;
  endedAt: Date;
  /** CPU seconds of the payload and everything it waited for. */
  cpuSeconds: number;
  /** The most memory that its processes had at a look; absent when it ended before the first one. */
  maxRssBytes?: number;
  /** The first line of a script that was not started, for people; only where the wrapper has left it. */
  firstLine?: string;
}

const REASONS: readonly string[] = [
  ...['', 'term', 'cancel', 'wall', 'not-found', 'no-interpreter', 'no-directory'],
];

/** Reads `record/start`. Undefined when it is not whole: the wrapper is writing it, or it was tampered with. */
export function parseStartRecord(text: string): StartRecord | undefined {
  const fields = fieldsOf(text);
  const begunAt = timeOf(fields.get('begin'));
  if (begunAt === undefined) return undefined;
  return { begunAt, host: hostOf(fields.get('host')), batchId: digitsOf(fields.get('batch')) };
}

/** Reads `record/exit`. Undefined when it is not whole. The file is the payload's own user's: nothing is believed. */
export function parseExitRecord(text: string): ExitRecord | undefined {
  const fields = fieldsOf(text);
  const start = parseStartRecord(text);
  const endedAt = timeOf(fields.get('end'));
  const status = fields.get('status') ?? '';
  const reason = fields.get('why') ?? '';
  if (start === undefined || endedAt === undefined || !/^\d{1,3}$/.test(status)) return undefined;
  if (!REASONS.includes(reason)) return undefined;
  const maxRssBytes = pagesOf(fields.get('rss') ?? '');
  const head = fields.get('head') ?? '';
  const isHead = /^(?:[0-9a-f]{2}){1,256}$/.test(head);
  return {
    ...start,
    ...(isHead ? { firstLine: shownFirstLine(Buffer.from(head, 'hex')) } : {}),
    ...(maxRssBytes > 0 ? { maxRssBytes } : {}),
    status: Number(status),
    reason: reason as EndReason,
    endedAt: endedAt < start.begunAt ? start.begunAt : endedAt,
    cpuSeconds: cpuOf(fields.get('cpu') ?? ''),
  };
}

function fieldsOf(text: string): Map<string, string> {
  const lines = text.split('\n').map((line) => /^([a-z]+)=(.*)$/.exec(line));
  return new Map(lines.flatMap((match) => (match ? [[match[1] ?? '', match[2] ?? '']] : [])));
}

/** Seconds since 1970 with an optional fraction. */
function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined || !/^\d{9,11}(\.\d{1,9})?N?$/.test(text)) return undefined;
  return new Date(Math.round(Number(text.replace('N', '')) * 1000));
}

function hostOf(text: string | undefined): string {
  return text !== undefined && /^[A-Za-z0-9._-]{1,253}$/.test(text) ? text : '';
}

function digitsOf(text: string | undefined): string {
  return text !== undefined && /^\d{1,12}$/.test(text) ? text : '';
}

/** Pages, and bytes of a page: `2560 4096`. */
function pagesOf(text: string): number {
  const match = /^(\d{1,12}) (\d{3,7})$/.exec(text);
  return match === null ? 0 : Number(match[1]) * Number(match[2]);
}

/** `times` writes user and system of the shell, then of its children: `0m0.01s 0m0.00s 1m2.50s 0m0.30s`. */
function cpuOf(text: string): number {
  const parts = [...text.matchAll(/(\d{1,8})m(\d{1,2}[.,]\d{1,9})s/g)];
  const seconds = parts
    .slice(2, 4)
    .map(([, minutes, rest]) => Number(minutes) * 60 + Number((rest ?? '0').replace(',', '.')));
  return Math.round(seconds.reduce((sum, value) => sum + value, 0) * 1000) / 1000;
}

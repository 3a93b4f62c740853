import { printable } from './output.js';

/** Progress of one piece of work, shown to people who look at it. */
export interface Progress {
  /** How far the work is, in the unit of the total, and a few words. */
  update(value: number, words?: string): void;
  /** Takes the bar away. */
  stop(): void;
}

/** What a bar is about. */
export interface ProgressOptions {
  /** First word of the line. */
  title: string;
  /** Whole of the work; left out or 0 when it is not known. */
  total?: number;
  /** True when the total counts bytes. */
  isBytes?: boolean;
  /** True when the command prints JSON: programs read along, no bar is shown. */
  json?: boolean | undefined;
}

const NONE: Progress = { update: () => undefined, stop: () => undefined };
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A bar on standard error. It is not shown with `--json`, nor where standard error is not a terminal. */
export async function progress(options: ProgressOptions): Promise<Progress> {
  if (!isShown(options.json)) return NONE;
  const { SingleBar, Presets } = (await import('cli-progress')).default;
  const { title, total = 0, isBytes = false } = options;
  const shown = (value: number): string => (isBytes ? sizeText(value) : String(value));
  const format =
    total > 0 ? `${title} {bar} {percentage}% {done} of {all} {words}` : `${title} {done} {words}`;
  const bar = new SingleBar(
    { format, stream: process.stderr, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  bar.start(total || 1, 0, { done: shown(0), all: shown(total), words: '' });
  return {
    update: (value, words = '') => {
      const reached = total > 0 ? Math.min(value, total) : 0;
      const done = shown(total > 0 ? reached : value);
      bar.update(reached, { done, words: printable(words) });
    },
    stop: () => bar.stop(),
  };
}

/** True when a bar may be shown. */
export function isShown(json: boolean | undefined): boolean {
  return process.stderr.isTTY && json !== true;
}

/** Bytes for people: `1.5 MB`. */
function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

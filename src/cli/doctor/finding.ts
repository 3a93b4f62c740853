/** How a check ended: `fault` keeps the service from working or makes it unsafe, `warning` wants a look. */
export type FindingState = 'ok' | 'warning' | 'fault' | 'skipped';

/** What one check of `gridgate doctor` has found. */
export interface Finding {
  /** What was looked at, a few words that stay the same. */
  check: string;
  state: FindingState;
  /** What is there, in one sentence without secrets. */
  text: string;
  /** What to do about it. */
  advice?: string;
}

export function ok(check: string, text: string): Finding {
  return { check, state: 'ok', text };
}

export function warning(check: string, text: string, advice: string): Finding {
  return { check, state: 'warning', text, advice };
}

export function fault(check: string, text: string, advice: string): Finding {
  return { check, state: 'fault', text, advice };
}

export function skipped(check: string, text: string): Finding {
  return { check, state: 'skipped', text };
}

/** The first line of an error's message. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.split('\n')[0] ?? '';
}

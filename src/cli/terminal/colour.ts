/** Colours of ECMA-48 by the state of a job; others stay as they are. */
const COLOURS: Record<string, number> = {
  Done: 32,
  Completed: 32,
  Failed: 31,
  Stalled: 31,
  Killed: 35,
  Deleted: 90,
  Running: 36,
  Completing: 36,
  Matched: 34,
  Waiting: 33,
  Rescheduled: 33,
  held: 33,
  drained: 33,
  open: 32,
  disabled: 31,
  refused: 31,
};

let isRefused = false;

/** `--no-color` counts for this run of the command. */
export function refuseColour(): void {
  isRefused = true;
}

/**
 * True when what is written there may be coloured: FORCE_COLOR (not `0` or `false`) says yes, NO_COLOR (not empty,
 * no-color.org) says no, as Node itself takes them; else at a terminal that is not `dumb`.
 */
export function mayColour(
  stream: { isTTY?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): boolean {
  if (isRefused) return false;
  const { FORCE_COLOR: force, NO_COLOR: none, TERM: term } = environment;
  if (force !== undefined) return !['0', 'false'].includes(force);
  return !none && term !== 'dumb' && stream.isTTY === true;
}

/** The text in the colour of the state, which may be followed by blanks. */
export function painted(text: string, state = text.trim()): string {
  const colour = Object.hasOwn(COLOURS, state) ? COLOURS[state] : undefined;
  return colour === undefined ? text : `\u001b[${colour}m${text}\u001b[0m`;
}

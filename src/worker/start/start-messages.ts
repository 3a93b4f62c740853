/** A program that is to be started. */
export interface StartOrder {
  program: string;
  words: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Files that are there and become standard output and error, to which is appended; undefined for none. */
  output?: { stdout: string; stderr: string } | undefined;
  /** Ended after so long; undefined for never. */
  timeoutMs?: number | undefined;
}

/** What the starter is asked: one line of JSON each. */
export interface StartQuestion extends StartOrder {
  id: number;
}

/** What it answers, once for each question: the code of a program that has ended (null by a signal), or why there is none. */
export type StartAnswer =
  { id: number; code: number | null } | { id: number; fault: string; errno?: string | undefined };

/** A test, by its file and its title: those of `describe` and `it` as they are written there, with ` › ` between them. */
export interface Shown {
  file: string;
  title: string;
  /** Of a test with a table: the row, by a text in it or by the source of one of its members. */
  row?: string;
}

/** One MUST of a standard. Without a test it has a reason why it is not met. */
export interface Requirement {
  section: string;
  /** The requirement in our own words. */
  text: string;
  shown?: readonly Shown[];
  /** Why it is not met, or which part of it. */
  notMet?: string;
}

/** A standard, and those of its demands that bind the service. */
export interface Standard {
  name: string;
  address: string;
  /** What was left out, and what the words mean here. */
  about: readonly string[];
  requirements: readonly Requirement[];
}

export const STANDARDS: readonly Standard[];
export function conformancePage(): string;

import { nameKey } from '../certificate/chain-link.js';
import { canonicalDn } from '../certificate/distinguished-name.js';
import type { SubjectPattern } from './subject-pattern.js';

/** What says whom a CA may sign in a directory in grid layout. */
export type PolicyKind = 'signing_policy' | 'namespaces';

/** Stands for the CA whose file it is (`TO Issuer SELF`). */
export const SELF = Symbol('the CA of the file');

/** Stands for a CA whose DN is not understood: it may be any. */
export const UNKNOWN = Symbol('some CA');

/** Stands for a pattern that is not understood: whoever is permitted that is permitted nothing, not unnamed. */
export const NOTHING: SubjectPattern = () => false;

/** One sentence of a policy: this CA may, or may not, sign these subjects. */
export interface SigningRule {
  /** nameKey of the CA's DN. */
  issuer: string | typeof SELF | typeof UNKNOWN;
  isPermit: boolean;
  fits: SubjectPattern;
  /** What of it is not understood, with the line; its pattern is NOTHING then. */
  fault?: PolicyError;
}

/** What a policy file says. */
export interface Policy {
  rules: SigningRule[];
  /** What it permits and nobody understands, with the line: its rule permits NOTHING. */
  leftOut: PolicyError[];
}

/** The policy; one of which nothing is understood is a fault as a whole. Throws PolicyError. */
export function policyOf(rules: SigningRule[], leftOut: PolicyError[]): Policy {
  const [first] = leftOut;
  if (first !== undefined && rules.every(({ fault }) => fault !== undefined)) throw first;
  return { rules, leftOut };
}

/** A policy file cannot be understood; the message has the line. */
export class PolicyError extends Error {
  constructor(line: number, problem: string, options?: ErrorOptions) {
    super(`line ${line}: ${problem}`, options);
    this.name = 'PolicyError';
  }
}

/** Works on the text of a line; what goes wrong there is told with the line. */
export function atLine<T>(line: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new PolicyError(line, (error as Error).message, { cause: error });
  }
}

/** What stood in quotes: a backslash before such a quote makes it a character; other escapes belong to what is quoted. */
export function withQuotes(text: string, quote: '"' | "'"): string {
  return text.replace(/\\(.)/gs, (whole, escaped: string) => (escaped === quote ? quote : whole));
}

/** The nameKey of a CA's DN in any spelling. Throws DistinguishedNameError. */
export function issuerKey(dn: string): string {
  return nameKey(canonicalDn(dn));
}

import { globPattern, type SubjectPattern } from './subject-pattern.js';
import {
  atLine,
  issuerKey,
  NOTHING,
  PolicyError,
  policyOf,
  withQuotes,
  type Policy,
  type SigningRule,
} from './signing-rule.js';

const SIGN = 'CA:sign';
const EVERYTHING: SubjectPattern = () => true;

type Pattern = Pick<SigningRule, 'fits' | 'fault'>;

interface Line {
  number: number;
  word: string;
  authority: string;
  value: string;
}

/** A right of the entry that is being read; its rules come with its conditions. */
interface Right {
  line: number;
  isPermit: boolean;
  /** False for rights to anything but signing certificates. */
  isAboutSigning: boolean;
  isLimited: boolean;
}

/**
 * Reads a `*.signing_policy` of the Globus toolkit (EACL): entries of `access_id_CA X509 '<DN>'`, then rights
 * (`pos_rights globus CA:sign`, seldom `neg_rights`) with `cond_subjects globus '"<glob>" "<glob>"'`. A pattern of a
 * permission that is not understood permits nothing. Anything else is a fault: what is not understood must not widen a
 * policy. Throws PolicyError.
 */
export function readSigningPolicy(text: string): Policy {
  const rules: SigningRule[] = [];
  const leftOut: PolicyError[] = [];
  let issuers: string[] = [];
  let right: Right | undefined;
  const endOfRight = (): void => {
    if (right === undefined || right.isLimited || !right.isAboutSigning) return;
    if (right.isPermit) throw new PolicyError(right.line, 'a right to sign without cond_subjects');
    for (const issuer of issuers) rules.push({ issuer, isPermit: false, fits: EVERYTHING });
  };
  for (const line of linesOf(text)) {
    if (line.word === 'access_id_CA') {
      endOfRight();
      if (right !== undefined) issuers = [];
      right = undefined;
      issuers.push(atLine(line.number, () => issuerKey(authorityIs(line, 'x509'))));
    } else if (line.word === 'pos_rights' || line.word === 'neg_rights') {
      endOfRight();
      if (issuers.length === 0) throw new PolicyError(line.number, 'no access_id_CA before it');
      right = rightOf(line);
    } else if (line.word === 'cond_subjects' && right !== undefined) {
      right.isLimited = true;
      const { isPermit, isAboutSigning } = right;
      const patterns = patternsOf(line, isPermit ? leftOut : undefined);
      if (!isAboutSigning) continue;
      for (const issuer of issuers) {
        rules.push(...patterns.map((pattern) => ({ issuer, isPermit, ...pattern })));
      }
    } else throw new PolicyError(line.number, `${line.word} is not expected here`);
  }
  endOfRight();
  if (issuers.length > 0 && right === undefined) {
    throw new PolicyError(text.split('\n').length, 'an entry ends without rights');
  }
  return policyOf(rules, leftOut);
}

function linesOf(text: string): Line[] {
  return text.split('\n').flatMap((raw, index) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return [];
    const number = index + 1;
    const match = /^(\S+)\s+(\S+)\s+(\S.*)$/.exec(line);
    if (match === null)
      throw new PolicyError(number, 'a word, an authority and a value are expected');
    const [, word = '', authority = '', rest = ''] = match;
    return [{ number, word, authority, value: atLine(number, () => unquoted(rest)) }];
  });
}

const SINGLE_QUOTED = /^'((?:[^'\\]|\\.)*)'/s;
/** `"a" "b"` without single quotes around is a list as well. */
const DOUBLE_QUOTED = /^(?:"(?:[^"\\]|\\.)*"\s*)+/s;
/** One pattern of a list. */
const PATTERN = /\s*"((?:[^"\\]|\\.)*)"\s*/sy;

/** The value without the single quotes around it and without a comment behind them. */
function unquoted(text: string): string {
  const quote = text[0];
  if (quote !== "'" && quote !== '"') return text;
  const [whole, inner] = (quote === "'" ? SINGLE_QUOTED : DOUBLE_QUOTED).exec(text) ?? [];
  if (whole === undefined) throw new Error('a quote is not closed');
  const behind = text.slice(whole.length).trim();
  if (behind !== '' && !behind.startsWith('#')) throw new Error('there is text behind the quotes');
  return inner === undefined ? whole : withQuotes(inner, quote);
}

function authorityIs(line: Line, expected: string): string {
  if (line.authority.toLowerCase() !== expected) {
    throw new Error(`the authority ${line.authority} is not known here`);
  }
  const whole = /^"((?:[^"\\]|\\.)*)"\s*$/s.exec(line.value);
  return whole?.[1] === undefined ? line.value : withQuotes(whole[1], '"');
}

function rightOf(line: Line): Right {
  const value = atLine(line.number, () => authorityIs(line, 'globus'));
  return {
    line: line.number,
    isPermit: line.word === 'pos_rights',
    isAboutSigning: value === SIGN,
    isLimited: false,
  };
}

/** Patterns that are not understood go to `leftOut`, where there is one. */
function patternsOf(line: Line, leftOut?: PolicyError[]): Pattern[] {
  return atLine(line.number, () => {
    if (line.authority.toLowerCase() !== 'globus') {
      throw new Error(`the authority ${line.authority} is not known here`);
    }
    const text = line.value.trim();
    if (!text.includes('"')) return [{ fits: globPattern(notEmpty(text)) }];
    const patterns: Pattern[] = [];
    for (PATTERN.lastIndex = 0; PATTERN.lastIndex < text.length;) {
      const [, pattern] = PATTERN.exec(text) ?? [];
      if (pattern === undefined) throw new Error('patterns must each stand in double quotes');
      try {
        patterns.push({ fits: globPattern(notEmpty(withQuotes(pattern, '"'))) });
      } catch (error) {
        if (leftOut === undefined) throw error;
        const fault = new PolicyError(line.number, (error as Error).message, { cause: error });
        leftOut.push(fault);
        patterns.push({ fits: NOTHING, fault });
      }
    }
    return patterns;
  });
}

function notEmpty(pattern: string): string {
  if (pattern.trim() === '') throw new Error('a pattern is empty');
  return pattern;
}

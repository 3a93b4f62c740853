import {
  atLine,
  issuerKey,
  NOTHING,
  PolicyError,
  policyOf,
  SELF,
  UNKNOWN,
  withQuotes,
  type Policy,
  type SigningRule,
} from './signing-rule.js';
import { expressionPattern } from './subject-pattern.js';

const VERSION = /^#\s*NAMESPACES-VERSION:\s*(\S+)/i;

interface Token {
  line: number;
  text: string;
  isQuoted: boolean;
}

/**
 * Reads a `*.namespaces` of the IGTF (EUGridPMA namespaces format, version 1.0):
 * `TO Issuer "<DN>"|SELF PERMIT|DENY Subject "<regular expression>"`; words in any case, comments from `#`, a backslash
 * at the end of a line goes on with the next. A permission of which issuer or subject is not understood permits nothing. Throws
 * PolicyError, also for any other version.
 */
export function readNamespaces(text: string): Policy {
  const tokens = tokensOf(text);
  const rules: SigningRule[] = [];
  const leftOut: PolicyError[] = [];
  let at = 0;
  const next = (): Token => {
    const token = tokens[at++];
    if (token !== undefined) return token;
    throw new PolicyError(tokens.at(-1)?.line ?? 1, 'a sentence is not whole');
  };
  const word = (...words: string[]): string => {
    const { line, text: found, isQuoted } = next();
    const known = words.find((one) => !isQuoted && one === found.toUpperCase());
    if (known === undefined) throw new PolicyError(line, `${words.join(' or ')} is expected`);
    return known;
  };
  while (at < tokens.length) {
    word('TO');
    word('ISSUER');
    const name = next();
    const isPermit = word('PERMIT', 'DENY') === 'PERMIT';
    word('SUBJECT');
    const subject = next();
    if (!subject.isQuoted || subject.text.trim() === '') {
      throw new PolicyError(subject.line, 'a subject in double quotes is expected');
    }
    let issuer: SigningRule['issuer'] = UNKNOWN;
    try {
      issuer = issuerOf(name);
      const fits = atLine(subject.line, () => expressionPattern(subject.text));
      rules.push({ issuer, isPermit, fits });
    } catch (error) {
      if (!isPermit || (issuer === UNKNOWN && !name.isQuoted)) throw error;
      const fault = error as PolicyError;
      leftOut.push(fault);
      rules.push({ issuer, isPermit, fits: NOTHING, fault });
    }
  }
  return policyOf(rules, leftOut);
}

function issuerOf(token: Token): string | typeof SELF {
  if (token.isQuoted) return atLine(token.line, () => issuerKey(token.text));
  if (token.text.toUpperCase() === 'SELF') return SELF;
  throw new PolicyError(token.line, 'an issuer in double quotes, or SELF, is expected');
}

function tokensOf(text: string): Token[] {
  return text.split('\n').flatMap((line, index) => {
    const number = index + 1;
    const version = VERSION.exec(line)?.[1];
    if (version !== undefined && version !== '1.0') {
      throw new PolicyError(number, `version ${version} of the format is not known`);
    }
    return lineTokens(line, number);
  });
}

/** A quoted text, a comment, the backslash at the end, or a word. */
const TOKEN = /"((?:[^"\\]|\\.)*)"|#.*|\\\s*$|([^\s"#\\]+)|(\S)/gs;

function lineTokens(text: string, line: number): Token[] {
  return [...text.matchAll(TOKEN)].flatMap(([, quoted, word, other]): Token[] => {
    if (other !== undefined) throw new PolicyError(line, `${other} is not expected here`);
    if (quoted !== undefined) {
      return [{ line, text: withQuotes(quoted, '"'), isQuoted: true }];
    }
    return word === undefined ? [] : [{ line, text: word, isQuoted: false }];
  });
}

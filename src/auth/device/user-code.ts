import { randomInt } from 'node:crypto';

// Consonants only, so that no words appear (RFC 8628 §6.1): 20^8 codes, about 34 bits.
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** A fresh user code without hyphen. */
export function makeUserCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** The code as it is shown: `BCDF-GHJK`. */
export function showUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/** What somebody typed, in the form that is stored: any case, hyphens and blanks ignored. */
export function readUserCode(text: string): string {
  return text.toUpperCase().replace(/[^A-Z]/g, '');
}

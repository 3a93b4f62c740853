import { metadataValue, type MetadataValues } from '#src/client/index.js';
import { CommandError } from './command-error.js';

/** A value of metadata as somebody writes it for a command: `key=value`; `null` alone removes the value. Throws CommandError. */
export function pairOf(word: string): [string, MetadataValues[string]] {
  const at = word.indexOf('=');
  if (at < 1) throw new CommandError(`${word} is not key=value`, 2);
  const text = word.slice(at + 1);
  return [word.slice(0, at), text === 'null' ? null : metadataValue(text)];
}

import { Problem, Slices, type JsonValue } from '#src/kernel/index.js';
import { parseJsonText } from '#src/platform/index.js';
import type { TextLine } from './text-lines.js';

/** One object to apply, with the number of its line. */
export interface NumberedObject {
  number: number;
  json: JsonValue | Problem;
}

/**
 * Lines as JSON, or why they are none. Gives others a turn now and then: a broken line costs some 50 µs (it is read twice to
 * tell the place, and a Problem is made), and a batch has thousands.
 */
export async function* parsedLines(
  lines: AsyncIterable<TextLine>,
): AsyncGenerator<NumberedObject & { characters: number }> {
  const slices = new Slices();
  for await (const line of lines) {
    if (slices.isOver) await slices.rest();
    if ('fault' in line) {
      yield { number: line.number, json: Problem.invalidField('line', line.fault), characters: 0 };
    } else {
      yield { number: line.number, json: parsed(line.text), characters: line.text.length };
    }
  }
}

function parsed(text: string): JsonValue | Problem {
  try {
    return parseJsonText(text, 'The line');
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

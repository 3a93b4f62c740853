import { Problem, Slices, type JsonValue } from '#src/kernel/index.js';
import { parseJsonText } from '#src/http/index.js';
import type { TextLine } from './text-lines.js';

/** One object to apply, with the number of its line. */
export interface NumberedObject {
  number: number;
  json: JsonValue | Problem;
  /** Of its text, where it has been one. */
  characters?: number;
}

/**
 * Blocks of lines as JSON, or why they are none. Gives others a turn now and then: a broken line costs some 50 µs (it is read
 * twice to tell the place, and a Problem is made), and a batch has thousands.
 */
export async function* parsedLines(
  blocks: AsyncIterable<readonly TextLine[]>,
): AsyncGenerator<NumberedObject[]> {
  const slices = new Slices();
  for await (const block of blocks) {
    const objects: NumberedObject[] = [];
    for (const line of block) {
      const { number } = line;
      if ('fault' in line) objects.push({ number, json: Problem.invalidField('line', line.fault) });
      else objects.push({ number, json: parsed(line.text), characters: line.text.length });
      if (slices.isOver) await slices.rest();
    }
    yield objects;
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

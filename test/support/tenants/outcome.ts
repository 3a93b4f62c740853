import type { Answer } from '../testbed.js';

/** What an answer comes to in one line: the status, the code of a problem, or what can be seen in a success. */
export type Outcome = string;

/** Allowed, and left to alice: it would take the thing away before the others have tried. */
export const NOT_TRIED: Outcome = 'allowed';

/** Status, and the code of a problem. */
export function outcomeOf({ status, body }: Answer): Outcome {
  const code = (body as { code?: string } | undefined)?.code;
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** For answers that show many things: whether the text is among them. */
export function showing(text: string): (answer: Answer) => Outcome {
  return (answer) => {
    if (answer.status !== 200) return outcomeOf(answer);
    return answer.bytes.toString('utf8').includes(text) ? '200 shown' : '200 hidden';
  };
}

/** For answers with a result of their own for each item: the status of the first one. */
export function firstItem(answer: Answer): Outcome {
  if (answer.status !== 200) return outcomeOf(answer);
  const match = /"status":(\d+)/.exec(answer.bytes.toString('utf8'));
  return `200 item ${match?.[1] ?? 'done'}`;
}

/** For answers with a line for each thing that is read: what the single read of the first one comes to. */
export function firstLine(answer: Answer): Outcome {
  if (answer.status !== 200) return outcomeOf(answer);
  const [line = ''] = answer.bytes.toString('utf8').split('\n');
  const { error } = JSON.parse(line) as { error?: { status: number; code: string } };
  return error === undefined ? '200' : `${error.status} ${error.code}`;
}

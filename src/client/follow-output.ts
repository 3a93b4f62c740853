import { parseJson } from '#src/kernel/json.js';
import { GridError } from './grid-error.js';
import { serverEvents } from './request/server-events.js';

/** What comes of an output that is followed. */
export type OutputEvent =
  /** `base64` has the bytes where they are no UTF-8, for which U+FFFD stands in the text. */
  | { event: 'output'; text: string; base64?: string }
  /** The file begins anew: another run of the job, or the job has replaced or emptied it. */
  | { event: 'restart'; attempt: number }
  | { event: 'end'; reason: string; status?: string };

/** Makes the call again, from behind the last event on. Throws GridError. */
export type FollowCall = (lastEventId: string | undefined) => Promise<AsyncIterable<string>>;

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** Calls in vain after which whoever follows is told. */
const MOST_IN_VAIN = 10;

/** Events of an output; where the connection breaks the call is made again, and what has come does not come twice. */
export async function* followedOutput(call: FollowCall): AsyncGenerator<OutputEvent> {
  let last: string | undefined;
  let inVain = 0;
  let hasBegun = false;
  for (;;) {
    try {
      const lines = await call(last);
      hasBegun = true;
      for await (const { name, data, id } of serverEvents(lines)) {
        inVain = 0;
        last = id ?? last;
        const event = { event: name, ...(parseJson(data) as object) } as OutputEvent;
        yield event;
        if (event.event === 'end') return;
      }
    } catch (error) {
      if (!hasBegun || !isPassing(error) || inVain >= MOST_IN_VAIN) throw error;
    }
    inVain += 1;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** inVain);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** True for what another try may find mended: the service was away, or the connection broke. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof GridError)) return error instanceof TypeError;
  return error.code === 'network' || error.status === 429 || error.status === 503;
}

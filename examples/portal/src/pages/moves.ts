import { GridError, type GridClient, type JobChange, type WatchedJobs } from 'gridgate/client';
import { pause } from './page.js';

/** Which moves a page wants to know. */
export interface Moves {
  client: GridClient;
  query: WatchedJobs;
  /** Of those that match; left out for all. */
  isWanted?: (jid: number) => boolean;
  /** Many moves at once are one reason to look, and so are those of this time, seconds. */
  atMostEvery: number;
  signal: AbortSignal;
  onFault: (error: unknown) => void;
}

/**
 * Where the feed cannot be had (too many streams of the user, a proxy that permits none) it is looked so often, and so soon
 * again where looking has failed, seconds.
 */
const WITHOUT_FEED = 5;

/**
 * Does the work now, and again whenever a job has moved, as long as the page is open and its tab is looked at. What was missed
 * meanwhile is not asked for: the work reads everything anew, from a position of the feed that was taken before.
 */
export async function atMoves(moves: Moves, work: () => Promise<void>): Promise<void> {
  const { signal, onFault, atMostEvery } = moves;
  const bell = new Bell(signal);
  void listen(moves, bell);
  while (!signal.aborted) {
    await bell.rung();
    try {
      if (!signal.aborted) await work();
    } catch (error) {
      if (signal.aborted) return;
      onFault(error);
      await pause(WITHOUT_FEED, signal);
      bell.ring(); // the feed may be well and have nothing more to say
    }
    await pause(atMostEvery, signal);
  }
}

async function listen(moves: Moves, bell: Bell): Promise<void> {
  const { client, query, signal, isWanted } = moves;
  while (!signal.aborted) {
    await untilSeen(signal);
    const looking = new AbortController();
    const end = (): void => looking.abort();
    document.addEventListener('visibilitychange', end, { once: true });
    const both = AbortSignal.any([signal, looking.signal]);
    try {
      const after = await positionOf(client, query, both);
      bell.ring();
      for await (const change of client.watchJobs(query, { after, signal: both })) {
        if (change.kind === 'list') break; // the service has forgotten where we were
        if (isWanted?.(jidOf(change)) ?? true) bell.ring();
      }
    } catch {
      if (both.aborted) continue;
      bell.ring(); // the work says what is wrong, if it is more than the feed
      await pause(WITHOUT_FEED, both);
    } finally {
      document.removeEventListener('visibilitychange', end);
    }
  }
}

function jidOf(change: Exclude<JobChange, { kind: 'list' }>): number {
  return change.job.jid;
}

/** Where the feed stands. Throws GridError. */
async function positionOf(
  client: GridClient,
  query: WatchedJobs,
  signal: AbortSignal,
): Promise<string> {
  const asked = { ...query, maxJobs: 1 };
  const request = { method: 'GET', path: '/jobs', query: asked, answer: 'json' } as const;
  const { answer } = await client.raw(request, { signal });
  await answer.body?.cancel();
  const position = answer.headers.get('Grid-Feed-Position');
  if (position === null) throw new GridError(501, { detail: 'The service has no feed of jobs' });
  return position;
}

/** Rung any number of times before it is heard, it is heard once; the end of the page rings it as well. */
class Bell {
  private isRung = false;
  private hear: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.ring(), { once: true });
  }

  ring(): void {
    this.isRung = true;
    this.hear?.();
  }

  async rung(): Promise<void> {
    if (!this.isRung) await new Promise<void>((resolve) => (this.hear = resolve));
    this.isRung = false;
  }
}

/** Resolves when the tab is looked at, or the page closes. */
function untilSeen(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible' || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      document.removeEventListener('visibilitychange', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    document.addEventListener('visibilitychange', done);
    signal.addEventListener('abort', done);
  });
}

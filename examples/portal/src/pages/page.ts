import type { GridClient } from 'gridgate/client';

/** What a page gets. */
export interface PageInput {
  client: GridClient;
  /** Where the page puts its content. */
  root: HTMLElement;
  /** Parts of the address after the page's name. */
  path: string[];
  query: URLSearchParams;
  /** Ends when another page is opened; everything that a page starts ends with it. */
  signal: AbortSignal;
  /** The name of who is signed in. */
  user: string;
  /** Whether who is signed in has this scope. */
  may: (scope: string) => boolean;
  administration: {
    /** Whether the group may have the scope of administration. */
    isPossible: () => Promise<boolean>;
    /** Leaves to sign in with it. */
    begin: () => Promise<void>;
    /** Leaves to sign in without it. */
    end: () => Promise<void>;
  };
}

/** Shows itself below `root`; rejects when it cannot. */
export type Page = (input: PageInput) => Promise<void>;

/**
 * Does the work now and then every `seconds`, as long as the page is open and its tab is looked at. A failed round is
 * given to `onFault` and the next one is tried.
 */
export async function repeatedly(
  input: { seconds: number; signal: AbortSignal; onFault: (error: unknown) => void },
  work: () => Promise<boolean | void>,
): Promise<void> {
  const { seconds, signal, onFault } = input;
  while (!signal.aborted) {
    if (document.visibilityState === 'visible') {
      try {
        if ((await work()) === false) return;
      } catch (error) {
        if (signal.aborted) return;
        onFault(error);
      }
    }
    await pause(seconds, signal);
  }
}

/** Ends after the time, when the tab is looked at again, or when the page closes. */
export function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, seconds * 1000);
    document.addEventListener('visibilitychange', done);
    signal.addEventListener('abort', done);
  });
}

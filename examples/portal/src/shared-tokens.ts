import { parseJson, stringifyJson } from 'gridgate/client';

const KEPT = 'portal.tokens';
const LOCK = 'portal.renewal';
/** How long a new tab waits for another one to tell what it knows. */
const ANSWER_MS = 250;

/** The tokens of who is signed in. */
export interface StoredTokens {
  access: string;
  refresh: string | undefined;
  /** The ID token of the sign-in. */
  id: string | undefined;
  expiresAt: number;
  user: string;
  group: string;
  setup: string;
  scope: string;
}

/** What pages depend on. */
const DEFINING = ['user', 'group', 'scope'] as const;

type Said = { kind: 'ask' } | { kind: 'have'; tokens: StoredTokens } | { kind: 'end' };

/**
 * Tokens that the open tabs of this portal share: each has them in its sessionStorage and tells new ones, so that they end
 * with the last tab, and signing out in one ends all. Nothing is written where it would outlive the browser.
 */
export class SharedTokens {
  private readonly channel = new BroadcastChannel(KEPT);

  /** `onChange` is called when another tab has signed in or out. */
  constructor(private readonly onChange: () => void) {
    this.channel.addEventListener('message', ({ data }: MessageEvent<Said>) => this.hear(data));
  }

  get current(): StoredTokens | undefined {
    const text = sessionStorage.getItem(KEPT);
    return text === null ? undefined : (parseJson(text) as unknown as StoredTokens);
  }

  /** Asks the other tabs when this one knows nothing; resolves when one has told, or none does. */
  async join(): Promise<void> {
    if (this.current) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.channel.removeEventListener('message', heard);
        resolve();
      };
      const heard = ({ data }: MessageEvent<Said>): void => {
        if (data.kind === 'have') done();
      };
      const timer = setTimeout(done, ANSWER_MS);
      this.channel.addEventListener('message', heard);
      this.say({ kind: 'ask' });
    });
  }

  set(tokens: StoredTokens): void {
    sessionStorage.setItem(KEPT, stringifyJson(tokens));
    this.say({ kind: 'have', tokens });
  }

  /** Ends the session in all tabs. */
  end(): void {
    sessionStorage.removeItem(KEPT);
    this.say({ kind: 'end' });
  }

  /**
   * Does the work while no other tab does: a refresh token is good for one renewal, and a second tab that used it as well
   * would end the session.
   */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return navigator.locks.request(LOCK, work);
  }

  private hear(said: Said): void {
    const before = this.current;
    if (said.kind === 'ask') {
      if (before) this.say({ kind: 'have', tokens: before });
    } else if (said.kind === 'end') {
      sessionStorage.removeItem(KEPT);
      if (before) this.onChange();
    } else if (said.tokens.expiresAt >= (before?.expiresAt ?? 0)) {
      sessionStorage.setItem(KEPT, stringifyJson(said.tokens));
      if (!before || DEFINING.some((name) => before[name] !== said.tokens[name])) this.onChange();
    }
  }

  private say(said: Said): void {
    this.channel.postMessage(said);
  }
}

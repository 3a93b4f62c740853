import { VerifiedTokens } from './bearer-tokens.js';

const NOW = Date.UTC(2026, 0, 2);

/** The memory of tokens, all of which are good, and what is told to it. */
function memory(): {
  tokens: VerifiedTokens;
  feed: { live: boolean };
  tell: (channel: string) => void;
  verified: (() => void)[];
  count: () => number;
} {
  let count = 0;
  const verified: (() => void)[] = [];
  const listeners = new Map<string, (id?: string) => void>();
  const feed = {
    live: true,
    listen: (channel: string, listener: (id?: string) => void) => {
      listeners.set(channel, listener);
      return () => undefined;
    },
  };
  const verify = () => {
    count += 1;
    verified.shift()?.();
    return Promise.resolve({ jti: 'one', exp: NOW / 1000 + 60 });
  };
  const tokens = new VerifiedTokens(
    { now: () => NOW },
    { verify, isForService: () => true } as never,
    { isAnyRevoked: () => Promise.resolve(false) } as never,
    {} as never,
    feed as never,
  );
  return { tokens, feed, verified, count: () => count, tell: (name) => listeners.get(name)?.() };
}

describe('a verified token', () => {
  it('is remembered', async () => {
    const { tokens, count } = memory();
    await tokens.claims('t');
    await tokens.claims('t');
    expect(count()).toBe(1);
  });

  it.each(['signing_keys', 'revocations'])(
    'is verified again after news of %s',
    async (channel) => {
      const { tokens, tell, count } = memory();
      await tokens.claims('t');
      tell(channel);
      await tokens.claims('t');
      expect(count()).toBe(2);
    },
  );

  it('is not remembered when its key went while it was verified', async () => {
    const { tokens, tell, verified, count } = memory();
    verified.push(() => tell('signing_keys'));
    await tokens.claims('t');
    await tokens.claims('t');
    await tokens.claims('t');
    expect(count()).toBe(2);
  });

  it('is verified each time while nobody tells of changes', async () => {
    const { tokens, feed, count } = memory();
    await tokens.claims('t');
    feed.live = false;
    await tokens.claims('t');
    await tokens.claims('t');
    expect(count()).toBe(3);
  });
});

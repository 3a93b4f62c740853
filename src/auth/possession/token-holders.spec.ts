import { Problem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import type { DpopProofs } from './dpop-proofs.js';
import { TokenHolders } from './token-holders.js';
import type { PeerCertificates } from './peer-certificates.js';

/** Holders of tokens where each proof of the key counts once, and how often one was looked at. */
function holdersOf(key: string): { holders: TokenHolders; looks: () => number } {
  let looks = 0;
  const proofs = {
    ofResourceRequest: () => {
      looks += 1;
      return Promise.resolve(key);
    },
  };
  const none = { thumbprintOf: () => undefined };
  const holders = new TokenHolders(
    proofs as unknown as DpopProofs,
    none as unknown as PeerCertificates,
  );
  return { holders, looks: () => looks };
}

describe('the proof of a DPoP key', () => {
  const request = {} as HttpRequest;
  const presented = { token: 'token', place: 'dpop' as const, request };

  it('counts for its whole request, and for no other token or request', async () => {
    const { holders, looks } = holdersOf('mine');
    await holders.check({ jkt: 'mine' }, presented);
    await holders.check({ jkt: 'mine' }, presented);
    expect(looks()).toBe(1);
    await holders.check({ jkt: 'mine' }, { ...presented, token: 'other' });
    await holders.check({ jkt: 'mine' }, { ...presented, request: {} as HttpRequest });
    expect(looks()).toBe(3);
  });

  it('of another key is refused each time', async () => {
    const { holders, looks } = holdersOf('other');
    for (const _time of [1, 2]) {
      await expect(holders.check({ jkt: 'mine' }, presented)).rejects.toThrow(Problem);
    }
    expect(looks()).toBe(2);
  });
});

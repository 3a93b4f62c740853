import { sha256 } from '#src/kernel/index.js';
import type { BrowserSessionEntity } from '../sign-in/sessions/browser-session.entity.js';
import { PROMPTS } from '../protocol/prompts.js';
import { AuthorizationError } from './authorization-error.js';

// As long as somebody may think about a question that a sign-in was needed for.
const DECISION_MS = 600_000;

/** What an authorization request wants of the sign-in (OpenID Connect Core §3.1.2.1). */
export interface SignInDemand {
  /** `prompt=none`: no page, an answer or an error. */
  isSilent: boolean;
  /** `prompt=login` or `select_account`: somebody must sign in for this very request. */
  isFresh: boolean;
  /** `max_age`: seconds since somebody signed in, at most. */
  maxAgeSeconds: number | undefined;
  /** `login_hint`: the name that somebody has typed elsewhere. */
  loginHint: string | undefined;
  /** `sub` of the `id_token_hint`: nobody else will do. */
  subject: string | undefined;
}

/** The words of `prompt`. Throws AuthorizationError `invalid_request` for an unknown one, and for `none` with others. */
export function readPrompt(prompt: string | undefined): Pick<SignInDemand, 'isSilent' | 'isFresh'> {
  const words = (prompt ?? '').split(' ').filter((word) => word !== '');
  const known: readonly string[] = PROMPTS;
  if (!words.every((word) => known.includes(word))) {
    throw new AuthorizationError('invalid_request', `prompt is not of ${PROMPTS.join(', ')}`);
  }
  const isSilent = words.includes('none');
  if (isSilent && words.length > 1) {
    throw new AuthorizationError('invalid_request', 'prompt none goes with no other');
  }
  return { isSilent, isFresh: words.includes('login') || words.includes('select_account') };
}

/** Whether who is signed in is who must be, and has signed in lately enough or for this very request. */
export function isMet(
  demand: SignInDemand,
  state: { subject: string; session: BrowserSessionEntity; address: string; now: number },
): boolean {
  const { subject, session, address, now } = state;
  if (demand.subject !== undefined && demand.subject !== subject) return false;
  const signedInAt = session.authenticatedAt?.getTime() ?? -Infinity;
  const isForThis = session.signedInFor === sha256(address);
  // a provider may say that it was long ago, however it was asked
  if (isForThis && now - session.createdAt.getTime() <= DECISION_MS) return true;
  if (demand.isFresh) return false;
  return demand.maxAgeSeconds === undefined || now - signedInAt <= demand.maxAgeSeconds * 1000;
}

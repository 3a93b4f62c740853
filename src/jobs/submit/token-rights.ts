import { OAuthProblem, randomToken, type Violation } from '#src/kernel/index.js';
import type { Delegation, Delegations, Principal } from '#src/auth/index.js';
import type { TokenWish } from '../manifest/job-token.js';
import { pointerTo, type ManifestWarning } from '../manifest/manifest-warning.js';

/** What jobs may have tokens for. */
export interface TokenRight {
  id: string;
  delegation: Delegation;
}

/** What became of a wish: the right, or why there is none. */
export interface JudgedToken {
  /** Id of the TokenRight. */
  right?: string;
  violations: Violation[];
  warnings: ManifestWarning[];
}

/** Each may cost a look into the catalogue, and many jobs have the same. */
const MAX_WISHES = 100;
const FIELDS: Partial<Record<OAuthProblem['error'], string>> = {
  invalid_scope: 'Token.scope',
  invalid_target: 'Token.audience',
};

/** The rights to tokens that the jobs of one request ask for, within the token of the request. */
export class TokenRights {
  readonly all: TokenRight[] = [];
  private readonly judged = new Map<string, JudgedToken>();

  constructor(
    private readonly delegations: Delegations,
    private readonly principal: Principal,
  ) {}

  /** Judges a wish, once for all jobs with the same. */
  async judge(wish: TokenWish): Promise<JudgedToken> {
    const key = JSON.stringify([wish.scope, wish.audience]);
    const known = this.judged.get(key);
    if (known) return known;
    if (this.judged.size >= MAX_WISHES) {
      return faulty('Token', `more than ${MAX_WISHES} different ones are in the request`);
    }
    const judged = await this.look(wish);
    this.judged.set(key, judged);
    return judged;
  }

  private async look(wish: TokenWish): Promise<JudgedToken> {
    try {
      const { delegation, refused } = await this.delegations.within(this.principal, wish);
      const right = randomToken(16);
      this.all.push({ id: right, delegation });
      const warnings = refused.map((scope): ManifestWarning => ({
        code: 'manifest.token-scope',
        detail: `The token of the job does not get ${scope}: the token of the request, or the group, does not have it`,
        pointer: pointerTo('Token', 'scope'),
      }));
      return { right, violations: [], warnings };
    } catch (error) {
      if (!(error instanceof OAuthProblem)) throw error;
      const field = FIELDS[error.error] ?? 'Token';
      const problem =
        error.error === 'invalid_scope'
          ? `nothing of it is within the token of the request and the rights of the group: ${wish.scope}`
          : error.detail;
      return faulty(field, problem);
    }
  }
}

function faulty(field: string, problem: string): JudgedToken {
  return { violations: [{ field, problem }], warnings: [] };
}

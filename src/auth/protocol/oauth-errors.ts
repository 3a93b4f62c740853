import { OAuthProblem } from '#src/kernel/index.js';

/** 400 `invalid_grant`: one answer for every code or token that is no good, so that it tells nothing. */
export function invalidGrant(what: string): OAuthProblem {
  return new OAuthProblem('invalid_grant', `The ${what} is unknown, expired, used or not yours`);
}

/** 403 for a form that is not one of ours for this browser. */
export function invalidForm(): OAuthProblem {
  return new OAuthProblem('access_denied', 'This form is no longer valid; please start again', {
    status: 403,
  });
}

/** 400 `invalid_scope`: the group allows nothing of what was asked. */
export function nothingLeft(): OAuthProblem {
  return new OAuthProblem(
    'invalid_scope',
    'The group allows none of the scopes that were asked for',
  );
}

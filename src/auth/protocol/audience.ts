import { OAuthProblem } from '#src/kernel/index.js';
import { AUDIENCE_FORM, isAudience } from '#src/registry/index.js';

/** The audience of tokens for every service (WLCG profile 1.3, 2.1.1). */
export const ANY_AUDIENCE = 'https://wlcg.cern.ch/jwt/v1/any';

/** Says of an application that it may ask for every audience. */
export const EVERY_AUDIENCE = '*';

const MAX_AUDIENCES = 20;

/** For whom a token is wished: `resource` of RFC 8707 and `audience` of RFC 8693 mean the same here. */
export interface AudienceWish {
  audience?: string[] | undefined;
  resource?: string[] | undefined;
}

/**
 * The audiences that a request asks for, each once; undefined for none. Throws 400 `invalid_target` for a resource that
 * is no absolute URI without fragment (RFC 8707 §2), for what is no audience at all, and for too many.
 */
export function askedAudiences({ audience, resource }: AudienceWish): string[] | undefined {
  const asked = [...new Set([...(audience ?? []), ...(resource ?? [])])].filter(
    (one) => one !== '',
  );
  if (asked.length === 0) return undefined;
  if (asked.length > MAX_AUDIENCES) throw invalidTarget(`More than ${MAX_AUDIENCES} are asked for`);
  if (asked.includes(EVERY_AUDIENCE)) throw invalidTarget(`${EVERY_AUDIENCE} names no service`);
  if (!asked.every(isAudience)) throw invalidTarget(`An audience ${AUDIENCE_FORM}`);
  for (const one of resource ?? []) {
    if (one !== '' && (!URL.canParse(one) || one.includes('#'))) {
      throw invalidTarget('A resource is an absolute URI without a fragment');
    }
  }
  return asked;
}

/** Refuses what is not among the allowed. Throws 400 `invalid_target`. */
export function refuseOthers(asked: readonly string[], allowed: readonly string[]): void {
  if (allowed.includes(EVERY_AUDIENCE) || asked.every((one) => allowed.includes(one))) return;
  throw invalidTarget('The application may not ask for tokens for this audience');
}

/**
 * The audiences of a token that comes from another: those that are asked for, which must be the other's, or as many of the
 * other's as the application may have. A token for every service is one for each of them. Throws 400 `invalid_target`.
 */
export function narrowedAudiences(
  asked: readonly string[] | undefined,
  { parent, possible }: { parent: readonly string[]; possible: readonly string[] },
): readonly string[] {
  const isPossible = (one: string): boolean =>
    possible.includes(EVERY_AUDIENCE) || possible.includes(one);
  const isParents = (one: string): boolean => parent.includes(ANY_AUDIENCE) || parent.includes(one);
  const narrowed = asked ?? parent.filter(isPossible);
  if (narrowed.length > 0 && narrowed.every((one) => isPossible(one) && isParents(one))) {
    return narrowed;
  }
  throw invalidTarget('The subject_token or the application is not for this audience');
}

/** One audience as a text, several as a list (RFC 7519 §4.1.3). */
export function audienceClaim(audiences: readonly string[]): string | string[] {
  const [one = '', ...more] = audiences;
  return more.length === 0 ? one : [one, ...more];
}

function invalidTarget(description: string): OAuthProblem {
  return new OAuthProblem('invalid_target', description);
}

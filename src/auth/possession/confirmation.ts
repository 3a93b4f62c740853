import { isJsonObject } from '#src/kernel/index.js';

/** To what a token is bound (claim `cnf`, RFC 7800): a DPoP key (RFC 9449 §6.1) or a certificate (RFC 8705 §3.1). */
export type Confirmation = { readonly jkt: string } | { readonly 'x5t#S256': string };

/** How a request carries its access token. */
export type TokenPlace = 'bearer' | 'dpop' | 'query';

/** True for a claim that binds to exactly one thing that can be checked here; anything else binds to nobody. */
export function isConfirmation(claim: unknown): claim is Confirmation {
  if (!isJsonObject(claim)) return false;
  const [[name, value] = [], ...more] = Object.entries(claim);
  return more.length === 0 && (name === 'jkt' || name === 'x5t#S256') && typeof value === 'string';
}

/** The thumbprint of the DPoP key, undefined for a token that is bound otherwise or not at all. */
export function dpopKeyOf(confirmation: Confirmation | undefined): string | undefined {
  return confirmation && 'jkt' in confirmation ? confirmation.jkt : undefined;
}

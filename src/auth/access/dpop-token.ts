/** The token of a header `DPoP <token>` (RFC 9449 §7.1), undefined for any other one. */
export function dpopToken(authorization: string | undefined): string | undefined {
  const [scheme = '', token] = authorization?.split(' ') ?? [];
  return /^dpop$/i.test(scheme) ? token : undefined;
}

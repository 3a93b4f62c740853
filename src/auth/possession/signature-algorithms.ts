/** Algorithms of DPoP proofs, and of assertions with `fapi2` (FAPI 2.0 Security Profile 5.4.1). */
export const STRONG_ALGORITHMS: readonly string[] = ['ES256', 'PS256', 'EdDSA', 'Ed25519'];

/** Algorithms of assertions of other applications: many of them still sign with RS256 unless told otherwise. */
export const ASSERTION_ALGORITHMS: readonly string[] = [...STRONG_ALGORITHMS, 'RS256'];

/** Seconds by which the clock of a caller may be ahead (FAPI 2.0 Security Profile 5.3.2.1: at least 10, at most 60). */
export const CLOCK_SLACK_SECONDS = 10;

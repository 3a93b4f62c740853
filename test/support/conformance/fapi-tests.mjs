/** Names of tests that rows of FAPI 2.0 name more than once. */
import { of } from './shown.mjs';

export const applications = of('test/api/oauth2-applications.api-spec.ts');
export const strict = of('test/api/oauth2-profiles.api-spec.ts');
export const profiles = of('test/api/token-profiles.api-spec.ts');
export const auth = of('test/api/oauth2-auth.api-spec.ts');
export const openid = of('test/api/openid-connect.api-spec.ts');
export const signIn = of('test/api/openid-sign-in.api-spec.ts');
export const logout = of('test/api/openid-logout.api-spec.ts');
export const listener = of('src/http/open-tls.spec.ts');
export const certificateTokens = of('test/api/oauth2-token.api-spec.ts');
export const refresh = of('test/api/oauth2-refresh.api-spec.ts');
const faults = of('test/api/other-systems-faults.api-spec.ts');
const independent = of('test/api/independent-client.api-spec.ts');
export const identityProvider = of('test/api/identity-provider.api-spec.ts');
export const assertions = of('src/auth/clients/client-assertions.spec.ts');
export const proofs = of('src/auth/possession/dpop-proofs.spec.ts');
const clientRules = of('src/registry/model/client-rules.spec.ts');
export const verifier = of('src/id-provider/verify/token-verifier.spec.ts');
export const tls = of('test/client/http-tls.client-spec.ts');
export const hostile = of('test/client/id-provider-hostile.client-spec.ts');
export const forgery = of('test/client/id-provider-forgery.client-spec.ts');
export const signJwt = of('src/auth/keys/sign-jwt.spec.ts');

export const PLAIN = faults(
  'Slurm’s REST service is not made for the internet › never here: TLS below 1.2 and plain HTTP get no answer',
);
export const PUSHED = strict(
  'POST /oauth2/par › keeps a request for one decision of a user; the code gives bound tokens that do not rotate',
);
export const ONLY_WAY = strict('POST /oauth2/par › is the only way with fapi2');
export const BY_DPOP = independent(
  'openid-client, a client that knows nothing of this server › completes FAPI 2.0 with private_key_jwt, PAR and DPoP',
);
export const BY_TLS = independent(
  'openid-client, a client that knows nothing of this server › completes FAPI 2.0 with mTLS, PAR and certificate-bound tokens',
);
export const notPushed = (row) => strict('POST /oauth2/par › is refused %s', row);
export const ASSERTION = 'an assertion of an application (private_key_jwt)';
export const assertion = (row) => assertions(`${ASSERTION} › %s`, row);
export const proof = (row) => proofs('a DPoP proof › %s is none', row);
export const isGot = (row) => proofs('a bound token › is what %s gets', row);
export const notRegistered = (row) =>
  clientRules('how an application may be registered › not with %s', row);
export const ours = (title) => profiles(`an application with fapi2 › ${title}`);

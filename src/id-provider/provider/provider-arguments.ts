import {
  bindArguments,
  isDictionary,
  isPlainObject,
  type CallArguments,
  type Operation,
  type Parameter,
} from '#src/http-client/index.js';
import {
  ConfigurationError,
  SESSION_REQUEST_PARAMS,
  type FetchTokenOptions,
  type HttpCallOptions,
  type TokenFields,
} from '#src/oauth2-client/index.js';
import type { BrowserSession, CallbackRequest } from '../flows/authorization-code-flow.js';
import type { DeviceLoginOptions, DeviceWaitOptions } from '../flows/device-code-flow.js';
import type { JsonWebKeySet } from '../verify/key-set.js';
import type { TokenBinding } from '../verify/token-verifier.js';

type Text = string | null | undefined;
type Scopes = readonly string[] | string | null | undefined;

/** What `submitNewSession` is told: `session` gets the `state` that the browser has to bring back. */
export interface NewSessionCall {
  pkce?: boolean | null | undefined;
  session?: { state?: unknown } | undefined;
  /** What the provider is asked besides, as its authorization endpoint has it (EXTRA_AUTHORIZE_PARAMS). */
  prompt?: Text;
  login_hint?: Text;
}
export interface RefreshTokenCall {
  token?: Text;
  group?: Text;
}
export interface ExchangeTokenCall {
  accessToken?: Text;
  group?: Text;
  scope?: Scopes;
}
export interface RevokeTokenCall {
  token?: Text;
  tokenTypeHint?: Text;
}
export interface VerifyTokenCall extends TokenBinding {
  accessToken?: Text;
  jwks?: JsonWebKeySet | null | undefined;
}
export interface ProfileCall {
  accessToken?: Text;
}
export interface GroupsCall extends ProfileCall {
  payload?: unknown;
  token?: Text;
}
export interface LoginAnswerCall {
  response?: CallbackRequest | undefined;
  session?: BrowserSession | null | undefined;
}
export interface GroupCall {
  group?: Text;
}
export interface DeviceLoginCall extends GroupCall, DeviceLoginOptions {}
export interface DeviceWaitCall extends DeviceWaitOptions {
  deviceCode?: Text;
  interval?: number | null | undefined;
  timeout?: number | null | undefined;
}
export interface ResearchCall {
  payload?: unknown;
  token?: string | TokenFields | null | undefined;
}

/** The parameters of each operation of a provider: by their places, or by name in one object. */
export interface ProviderCalls {
  fetch_metadata: [places: [], names: HttpCallOptions];
  fetchJWKs: [places: [], names: HttpCallOptions];
  submitNewSession: [places: [pkce: boolean | null | undefined], names: NewSessionCall];
  fetchToken: [places: [], names: FetchTokenOptions];
  refreshToken: [places: [token: Text, group: Text], names: RefreshTokenCall];
  exchangeToken: [
    places: [accessToken: Text, group: Text, scope: Scopes],
    names: ExchangeTokenCall,
  ];
  revokeToken: [places: [token: Text, tokenTypeHint: Text], names: RevokeTokenCall];
  verifyToken: [
    places: [accessToken: Text, jwks: JsonWebKeySet | null | undefined],
    names: VerifyTokenCall,
  ];
  getUserProfile: [places: [accessToken: Text], names: ProfileCall];
  getUserGroups: [places: [accessToken: Text, payload: unknown, token: Text], names: GroupsCall];
  parseAuthResponse: [
    places: [response: CallbackRequest, session: BrowserSession | null | undefined],
    names: LoginAnswerCall,
  ];
  deviceAuthorization: [places: [group: Text], names: DeviceLoginCall];
  submitDeviceCodeAuthorizationFlow: [places: [group: Text], names: GroupCall];
  waitFinalStatusOfDeviceCodeAuthorizationFlow: [
    places: [
      deviceCode: Text,
      interval: number | null | undefined,
      timeout: number | null | undefined,
    ],
    names: DeviceWaitCall,
  ];
  researchGroup: [
    places: [payload: unknown, token: string | TokenFields | null | undefined],
    names: ResearchCall,
  ];
}

/** What an operation may be called with. */
export type ProviderArguments<N extends keyof ProviderCalls> = CallArguments<
  ProviderCalls[N][0],
  ProviderCalls[N][1]
>;

const text = (name: string): Parameter => ({ name, accepts: (it) => typeof it === 'string' });
const seconds = (name: string): Parameter => ({
  name,
  accepts: (it) => typeof it === 'number' && Number.isFinite(it) && it >= 0,
});
const isScopes = (it: unknown): boolean =>
  typeof it === 'string' || (Array.isArray(it) && it.every((item) => typeof item === 'string'));
const HTTP = [...SESSION_REQUEST_PARAMS, 'signal'];

/** Places and further names of each operation. */
const PARAMETERS: Readonly<
  Record<keyof ProviderCalls, readonly [places: readonly Parameter[], names?: readonly string[]]>
> = {
  fetch_metadata: [[], HTTP],
  fetchJWKs: [[], HTTP],
  submitNewSession: [
    [{ name: 'pkce', accepts: (it) => typeof it === 'boolean' }],
    ['session', 'prompt', 'login_hint'],
  ],
  fetchToken: [[]],
  refreshToken: [[text('token'), text('group')]],
  exchangeToken: [[text('accessToken'), text('group'), { name: 'scope', accepts: isScopes }]],
  revokeToken: [[text('token'), text('tokenTypeHint')]],
  verifyToken: [
    [text('accessToken'), { name: 'jwks', accepts: isDictionary }],
    ['certificate', 'jkt'],
  ],
  getUserProfile: [[text('accessToken')]],
  getUserGroups: [[text('accessToken'), { name: 'payload' }, text('token')]],
  parseAuthResponse: [[{ name: 'response' }, { name: 'session' }]],
  deviceAuthorization: [[text('group')], ['print', 'signal']],
  submitDeviceCodeAuthorizationFlow: [[text('group')]],
  waitFinalStatusOfDeviceCodeAuthorizationFlow: [
    [text('deviceCode'), seconds('interval'), seconds('timeout')],
    ['signal'],
  ],
  researchGroup: [
    [
      { name: 'payload' },
      { name: 'token', accepts: (it) => typeof it === 'string' || isPlainObject(it) },
    ],
  ],
};

const OPERATIONS = new Map<string, Operation>(
  Object.entries(PARAMETERS).map(([name, [parameters, names = []]]) => [
    name,
    {
      name,
      parameters,
      keywords: new Set(names),
      open: name === 'fetchToken',
      fail: (message) => new ConfigurationError(message),
    },
  ]),
);

/** The arguments of a call by name; throws ConfigurationError for one that fits nowhere. */
export function providerCall<N extends keyof ProviderCalls>(
  name: N,
  given: readonly unknown[],
): ProviderCalls[N][1] {
  return bindArguments(OPERATIONS.get(name) as Operation, given);
}

import {
  ConfigurationError,
  OAuth2Client,
  OAuth2IdProvider,
  Session,
  type Result,
} from '#src/grid.js';
import { PreparedRequest, Response } from '#src/http-client/index.js';

type AnyCall = Record<string, (...given: unknown[]) => unknown>;

const URL_THERE = 'https://as.test/x';
const NOTHING = Symbol('nothing');

/** What fits nowhere but where anything does. */
const WRONG: unknown[] = [NOTHING, null, undefined, 7, true, Symbol('s'), new Map(), () => 1];

const prepared = new PreparedRequest({ method: 'GET', url: URL_THERE });
const response = new Response({ status_code: 302, url: URL_THERE, request: prepared });
const adapter = { send: () => Promise.reject(new Error('was sent')), close: () => undefined };

/** A row: operation, arguments before the wrong one, its name, and what it may be of the above. */
type Row = [operation: string, before: unknown[], name: string, fitting?: unknown[]];

const NONE = [NOTHING, null, undefined];

/** Helpers of the HTTP session: TypeError. */
const HELPERS: Row[] = [
  ['request', [], 'method'],
  ['request', ['GET'], 'url'],
  ...['get', 'head', 'options', 'delete', 'post', 'put', 'patch'].map((verb): Row => [
    verb,
    [],
    'url',
  ]),
  ['prepare_request', [], 'request'],
  ['send', [], 'prepared'],
  ['get_adapter', [], 'url'],
  ['mount', [], 'prefix'],
  ['mount', ['https://x/'], 'adapter'],
  ['merge_environment_settings', [], 'url'],
  ['merge_environment_settings', [URL_THERE], 'proxies', NONE],
  ['merge_environment_settings', [URL_THERE, null], 'stream', [...NONE, true]],
  ['merge_environment_settings', [URL_THERE, null, null], 'verify', [...NONE, true]],
  ['merge_environment_settings', [URL_THERE, null, null, null], 'cert', NONE],
  ['get_redirect_target', [], 'response'],
  ['resolve_redirects', [], 'response'],
  ['resolve_redirects', [response], 'prepared'],
  ['rebuild_auth', [], 'prepared'],
  ['rebuild_auth', [prepared], 'response'],
  ['rebuild_method', [], 'prepared'],
  ['rebuild_method', [prepared], 'response'],
  ['rebuild_proxies', [], 'prepared'],
  ['should_strip_auth', [], 'old_url'],
  ['should_strip_auth', [URL_THERE], 'new_url'],
];

/** Operations of the OAuth client and of the provider that answer directly: ConfigurationError. */
const OPERATIONS: Row[] = [
  ['create_authorization_url', [], 'url', NONE],
  ['create_authorization_url', [URL_THERE], 'state', NONE],
  ['create_authorization_url', [URL_THERE, 's'], 'code_verifier', NONE],
  ['fetch_token', [], 'url', NONE],
  ['fetch_token', [URL_THERE], 'body', NONE],
  ['refresh_token', [URL_THERE], 'refresh_token', NONE],
  ['exchange_token', [URL_THERE], 'subject_token', NONE],
  ['revoke_token', [URL_THERE], 'token', NONE],
  ['introspect_token', [URL_THERE], 'token', NONE],
  ['token_from_fragment', [], 'authorization_response'],
  ['token_from_fragment', ['https://me/#a=b'], 'state', NONE],
  ['ensure_active_token', [], 'token', NONE],
  ['client_auth', [], 'auth_method', [...NONE, WRONG.at(-1)]],
  ['register_client_auth_method', [], 'auth'],
  ['register_compliance_hook', [], 'hook_type'],
  ['register_compliance_hook', ['protected_request'], 'hook', [WRONG.at(-1)]],
  ['setParameters', [], 'parameters'],
  ['get_metadata', [], 'option', NONE],
  ['getGroupScopes', [], 'group'],
  ['getScopeGroups', [], 'scope'],
  ['refreshToken', [], 'token', NONE],
  ['refreshToken', ['t'], 'group', NONE],
  ['exchangeToken', [], 'accessToken', NONE],
  ['exchangeToken', ['t'], 'group', NONE],
  ['exchangeToken', ['t', null], 'scope', NONE],
  ['verifyToken', [], 'accessToken', NONE],
  ['verifyToken', ['t'], 'jwks', NONE],
];

/** Operations that answer S_OK or S_ERROR. */
const RESULTS: Row[] = [
  ['submitNewSession', [], 'pkce', [...NONE, true]],
  ['revokeToken', [], 'token', NONE],
  ['revokeToken', ['t'], 'tokenTypeHint', NONE],
  ['getUserProfile', [], 'accessToken', NONE],
  ['getUserGroups', [], 'accessToken', NONE],
  ['getUserGroups', ['t', null], 'token', NONE],
  ['parseAuthResponse', [], 'response'],
  ['parseAuthResponse', [{ uri: '/cb' }], 'session', [...NONE, WRONG.at(-2)]],
  ['deviceAuthorization', [], 'group', NONE],
  ['submitDeviceCodeAuthorizationFlow', [], 'group', NONE],
  ['waitFinalStatusOfDeviceCodeAuthorizationFlow', [], 'deviceCode', NONE],
  ['waitFinalStatusOfDeviceCodeAuthorizationFlow', ['d'], 'interval', [...NONE, 7]],
  ['waitFinalStatusOfDeviceCodeAuthorizationFlow', ['d', 1], 'timeout', [...NONE, 7]],
  ['researchGroup', [null], 'token', NONE],
];

function provider(): AnyCall {
  const idp = new OAuth2IdProvider({ client_id: 'me', issuer: 'https://as.test' });
  idp.mount('https://', adapter);
  return idp as unknown as AnyCall;
}

/** What the call with the wrong argument throws or answers. */
async function outcome(call: AnyCall, [operation, before]: Row, wrong: unknown): Promise<unknown> {
  try {
    return await call[operation]!(...before, ...(wrong === NOTHING ? [] : [wrong]));
  } catch (error) {
    return error;
  }
}

function wrongFor([, , , fitting = []]: Row): unknown[] {
  return WRONG.filter((value) => !fitting.includes(value));
}

/** A row under a title of its own: prepared requests are no words. */
function titled(rows: readonly Row[]): [title: string, row: Row][] {
  return rows.map((row) => [`${row[0]}: ${row[2]}`, row]);
}

describe('a wrong argument is named', () => {
  it.each(titled(HELPERS))('Session.%s', async (_title, row) => {
    const session = new Session();
    session.mount('https://', adapter);
    for (const wrong of wrongFor(row)) {
      const error = await outcome(session as unknown as AnyCall, row, wrong);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toContain(`"${row[2]}"`);
    }
  });

  it.each(titled(OPERATIONS))('%s', async (_title, row) => {
    for (const wrong of wrongFor(row)) {
      const error = await outcome(provider(), row, wrong);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect((error as Error).message).toContain(`"${row[2]}"`);
    }
  });

  it.each(titled(RESULTS))('%s', async (_title, row) => {
    for (const wrong of wrongFor(row)) {
      const result = (await outcome(provider(), row, wrong)) as Result<unknown>;
      expect(result).toMatchObject({ OK: false, Errno: 'configuration_error' });
      expect(!result.OK && result.Message).toContain(`"${row[2]}"`);
    }
  });

  it.each([null, 7, 'x', [], Symbol('s')])('new OAuth2IdProvider(%p)', (wrong) => {
    for (const Class of [OAuth2IdProvider, OAuth2Client] as (new (it: unknown) => object)[]) {
      expect(() => new Class(wrong)).toThrow(ConfigurationError);
      expect(() => new Class(wrong)).toThrow(/"(?:parameters|options)"/);
    }
  });
});

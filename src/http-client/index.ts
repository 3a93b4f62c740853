export { Session } from './session/session.js';
export {
  bindArguments,
  isDictionary,
  isPlainObject,
  requireArgument,
  type CallArguments,
  type Operation,
  type Parameter,
} from './message/arguments.js';
export { Request } from './session/request.js';
export { REQUEST_KEYWORDS } from './session/request-arguments.js';
export {
  PreparedRequest,
  type PreparedRequestInit,
  Response,
  type ResponseInit,
  type ResponseStream,
} from './message/messages.js';
export { CaseInsensitiveDict, type DictSource } from './message/structures.js';
export { readAuthorities } from './transport/tls-settings.js';
export { HttpAdapter } from './transport/http-adapter.js';
export { CookieJar, type CookieScope } from './message/cookies.js';
export { basicAuthorization } from './message/auth.js';
export { select_proxy, should_bypass_proxies } from './message/proxies.js';
export { encodeFields } from './message/fields.js';
export {
  ConnectionError,
  ConnectTimeout,
  ContentDecodingError,
  HTTPError,
  InvalidHeader,
  InvalidJSONError,
  InvalidProxyURL,
  InvalidSchema,
  InvalidURL,
  JSONDecodeError,
  MissingSchema,
  ProxyError,
  ReadTimeout,
  RequestException,
  ResponseTooLarge,
  SSLError,
  StreamConsumedError,
  Timeout,
  TooManyRedirects,
  UnrewindableBodyError,
  type RequestErrorDetails,
} from './message/errors.js';
export type * from './message/types.js';

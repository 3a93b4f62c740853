export { Session } from './session.js';
export {
  bindArguments,
  isDictionary,
  isPlainObject,
  requireArgument,
  type CallArguments,
  type Operation,
  type Parameter,
} from './arguments.js';
export { Request } from './request.js';
export { REQUEST_KEYWORDS } from './request-arguments.js';
export { PreparedRequest, type PreparedRequestInit } from './prepared-request.js';
export { Response, type ResponseInit, type ResponseStream } from './response.js';
export { CaseInsensitiveDict, type DictSource } from './structures.js';
export { HttpAdapter } from './transport/http-adapter.js';
export { CookieJar, type CookieScope } from './cookies.js';
export { basicAuthorization } from './auth.js';
export { select_proxy, should_bypass_proxies } from './proxies.js';
export { encodeFields } from './fields.js';
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
} from './errors.js';
export type * from './types.js';

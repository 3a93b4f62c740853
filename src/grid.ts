/**
 * The package's public face: the OAuth2 client component of the interface. Importing it needs neither Nest nor a
 * database.
 */
import { claimParser, OAuth2IdProvider, OAuth2Session } from '#src/id-provider/library.js';

/** The component under the path that the interface gives it. */
export const GRID = {
  Resources: {
    IdProvider: {
      OAuth2IdProvider: {
        OAuth2IdProvider,
        OAuth2Session,
        /** {@link claimParser} */
        claimParser,
      },
    },
  },
} as const;

export { S_OK, S_ERROR } from '#src/kernel/index.js';
export type { Result, SuccessResult, ErrorResult, Clock } from '#src/kernel/index.js';

export { Session, Request } from '#src/http-client/index.js';
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
} from '#src/http-client/index.js';
export type * from '#src/http-client/index.js';

export {
  OAuth2Client,
  ClientSecretJWT,
  PrivateKeyJWT,
  OAuthError,
  MissingTokenError,
  InvalidTokenError,
  UnsupportedTokenTypeError,
  MismatchingStateError,
  MissingCodeError,
  InsecureTransportError,
  ConfigurationError,
  HttpError,
  InvalidResponseError,
} from '#src/oauth2-client/index.js';
export type * from '#src/oauth2-client/index.js';

export {
  claimParser,
  OAuth2IdProvider,
  OAuth2Session,
  DEFAULT_METADATA,
  EXTRA_AUTHORIZE_PARAMS,
  JWKS_REFRESH_RATE,
  METADATA_REFRESH_RATE,
  SESSION_REQUEST_PARAMS,
} from '#src/id-provider/library.js';
export type * from '#src/id-provider/library.js';

import type { RequestHandler } from 'express';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS =
  'Authorization, Content-Type, DPoP, Idempotency-Key, If-None-Match, Last-Event-ID, Range, X-Grid-Group';
/** All that answers carry and pages may not read by themselves (Fetch, CORS-safelisted response-header name). */
const ANSWER_HEADERS =
  'Accept-Ranges, Allow, Content-Disposition, Content-Range, DPoP-Nonce, ETag, Grid-Feed-Position, Link, Location, Retry-After, WWW-Authenticate, X-Request-Id';

/**
 * CORS by an allow-list of origins: none by default, no credentials, exact comparison. It is refused at the closed
 * path, in any of its spellings. Where origins are listed, every answer depends on the origin, also one to no origin: a cache
 * would give its copy without these headers to a page (Fetch, CORS protocol and HTTP caches).
 */
export function corsByAllowList(origins: string[], closedPath: string): RequestHandler {
  const allowed = new Set(origins);
  return (request, response, next) => {
    const origin = request.headers.origin;
    const isClosed = request.path.toLowerCase().startsWith(closedPath);
    if (allowed.size > 0 && !isClosed) response.setHeader('Vary', 'Origin');
    if (origin === undefined || !allowed.has(origin) || isClosed) {
      next();
      return;
    }
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) {
      next();
      return;
    }
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
    response.setHeader('Access-Control-Max-Age', '600');
    response.statusCode = 204;
    response.end();
  };
}

import Negotiator from 'negotiator';
import type { HttpRequest } from './messages.js';

/** True when the request likes that media type better than the usual one of the route (RFC 9110 §12.5.1). */
export function accepts(request: HttpRequest, type: string, usual: string): boolean {
  return new Negotiator(request).mediaType([usual, type]) === type;
}

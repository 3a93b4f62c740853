import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { redact } from '#src/runtime/index.js';
import { callerNetwork } from '#src/kernel/index.js';

/** A request as controllers and guards see it. */
export type HttpRequest = Request;
/** A response under way. */
export type HttpResponse = Response;

const REQUEST_ID = Symbol('request id');
const REQUEST_ADDRESS = Symbol('address of the client');
const REQUEST_LABELS = Symbol('labels of the request');

/** Longest path in the log: an ordinary one is shown whole, one of 30 kB tells no more than its beginning. */
const LONGEST_PATH = 256;

interface Marked {
  [REQUEST_ID]?: string;
  [REQUEST_ADDRESS]?: string;
  [REQUEST_LABELS]?: Record<string, string>;
}

/** The id that the answer carries as X-Request-Id and problem bodies as `instance`. */
export function requestIdOf(request: IncomingMessage): string {
  return (request as Marked)[REQUEST_ID] ?? '';
}

/** Gives the request its id. */
export function setRequestId(request: IncomingMessage, id: string): void {
  (request as Marked)[REQUEST_ID] = id;
}

/** Where the request comes from, as far as trusted proxies are believed; also when the connection is gone. */
export function clientAddressOf(request: IncomingMessage): string {
  return (request as Marked)[REQUEST_ADDRESS] ?? '';
}

/** Who is counted as one caller where the request names nobody: an IPv4 address, or the /64 of an IPv6 one. */
export function callerNetworkOf(request: IncomingMessage): string {
  return callerNetwork(clientAddressOf(request));
}

/** Says where the request comes from. */
export function setClientAddress(request: IncomingMessage, address: string): void {
  (request as Marked)[REQUEST_ADDRESS] = address;
}

/** Words for the log line of the request, for example the user and group. Never secrets. */
export function labelRequest(request: IncomingMessage, labels: Record<string, string>): void {
  const marked = request as Marked;
  marked[REQUEST_LABELS] = { ...marked[REQUEST_LABELS], ...labels };
}

/** The words given so far. */
export function labelsOf(request: IncomingMessage): Record<string, string> {
  return (request as Marked)[REQUEST_LABELS] ?? {};
}

/**
 * The path for logs: without the query, which may carry a token, and no longer than anybody reads. A long one is redacted
 * before it is cut: of half a token nobody could tell that it is one.
 */
export function shownPath({ originalUrl }: Pick<HttpRequest, 'originalUrl'>): string {
  const query = originalUrl.indexOf('?');
  const length = query < 0 ? originalUrl.length : query;
  if (length <= LONGEST_PATH) return originalUrl.slice(0, length);
  const shown = redact(originalUrl.slice(0, length));
  if (shown.length <= LONGEST_PATH) return shown;
  return `${shown.slice(0, LONGEST_PATH)}… (${length} characters)`;
}

import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Request } from 'express';
import { loopTurn, Problem, randomId, runFor, type Caller } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import {
  probeReply,
  type Readiness,
  REQUEST_LINE,
  type Logger,
  redact,
  type Metrics,
  type Tracing,
  type RunningSpan,
} from '#src/runtime/index.js';
import {
  clientAddressOf,
  isOfOwnWorker,
  labelsOf,
  requestIdOf,
  setClientAddress,
  setRequestId,
  shownPath,
  type HttpRequest,
  type HttpResponse,
  ClientAddresses,
} from './messages.js';
import type { ProblemFilter } from './problem.filter.js';
import { clientSignal } from './client-signal.js';

const HEADERS: [string, string][] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Frame-Options', 'DENY'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
];

const TLS_ONLY: [string, string] = ['Strict-Transport-Security', 'max-age=31536000'];
/** Names by which a machine knows itself. */
const OF_THE_MACHINE = /^(127(\.\d{1,3}){3}|\[::1\]|(.+\.)?localhost)$/;

/** What the middleware needs. */
export interface RequestMiddlewareInput {
  config: Config;
  logger: Logger;
  metrics: Metrics;
  readiness: Readiness;
  tracing: Tracing;
  problems: ProblemFilter;
  underWay: RequestsUnderWay;
}

/**
 * The first handler of every request: request id, security headers, deadline, and at the end one log line and the
 * metrics. What comes during the start waits for it (see Readiness.whenStartedOrLate), the probes excepted; when the
 * start takes long it is answered 503 with Retry-After. So is what is not answered in time, and what makes no progress for
 * as long while its body arrives: its connection is ended, and whatever is kept for it given back.
 */
export function requestMiddleware(input: RequestMiddlewareInput): RequestHandler {
  const { config, readiness, tracing, problems, underWay } = input;
  const record = recorder(input);
  const deadlineMs = config.requestTimeout * 1000;
  const fixed = headersFor(config);
  const addresses = new ClientAddresses(config.trustedProxies);
  return (request, response, next) => {
    const requestId = randomId();
    const caller = new RequestCaller(request);
    setRequestId(request, requestId);
    setClientAddress(request, addresses.addressOf(request));
    const place = underWay.begin(request);
    response.setMaxListeners(MOST_LISTENERS);
    response.setHeader('X-Request-Id', requestId);
    for (const [name, value] of fixed) response.setHeader(name, value);
    const span = tracing.request(request.method, headerOf(request.headers['traceparent']));
    const started = process.hrtime.bigint();
    let moved = movedBy(request);
    const timer = setTimeout(() => {
      // A body that is still arriving has its time to be answered when it is here; a slow client is Connections' business.
      const isArriving = !request.complete && !request.destroyed;
      if (isArriving && moved !== movedBy(request)) {
        moved = movedBy(request);
        timer.refresh();
      } else if (isArriving) problems.answer(stuckProblem(), request, response);
      else if (!response.headersSent) problems.answer(lateProblem(), request, response);
    }, deadlineMs).unref();
    response.once('close', () => {
      clearTimeout(timer);
      underWay.end(place);
      caller.end(response.writableFinished);
      record(request, response, { seconds: Number(process.hrtime.bigint() - started) / 1e9, span });
    });
    const work = (): void => runFor(caller, span ? () => span.run(next) : next);
    const enter = (): void => {
      if (response.destroyed || response.headersSent) return; // gone, or answered, while it waited
      if (readiness.started) work();
      else problems.answer(Problem.unavailable('The service is starting'), request, response);
    };
    const fault = headFault(request);
    if (fault) problems.answer(fault, request, response);
    else if (isProbe(request.path)) {
      if (readiness.started) work();
      else void answerEarly(input, request, response).then((isAnswered) => isAnswered || work());
    } else if (config.role === 'worker' && !isOfOwnWorker(request))
      problems.answer(onWorker(), request, response);
    else if (readiness.started) enter();
    else void readiness.whenStartedOrLate().then(() => loopTurn.enter(enter));
  };
}

/** Four of ours wait for the end of an answer, a pipeline of Node into it adds seven; Node warns of a leak above ten. */
const MOST_LISTENERS = 20;

/**
 * Headers of every answer. That a host is reached by TLS only (RFC 6797) holds for a year and for all of its ports: not for
 * the names of a developer's own machine, nor where the certificate is one of the development CA, whose warnings
 * nobody could pass any more.
 */
function headersFor(config: Config): [string, string][] {
  const isDevelopment =
    config.useDevelopmentCa && config.tlsMode === 'on' && config.tlsCertificate === undefined;
  const isHere = OF_THE_MACHINE.test(new URL(config.publicUrl).hostname);
  return isDevelopment || isHere ? HEADERS : [...HEADERS, TLS_ONLY];
}

/** Answers a probe before there are routes; false for one that is not here. */
async function answerEarly(
  { config, metrics, readiness }: RequestMiddlewareInput,
  { method, path }: HttpRequest,
  response: HttpResponse,
): Promise<boolean> {
  const isHere = path !== '/metrics' || config.metricsPort === 0;
  if (!isHere || (method !== 'GET' && method !== 'HEAD')) return false;
  const reply = await probeReply(path, { metrics, readiness });
  if (!reply) return false;
  response.statusCode = reply.status;
  response.setHeader('Content-Type', reply.type);
  if (reply.retryAfter !== undefined) response.setHeader('Retry-After', reply.retryAfter);
  response.end(reply.text);
  return true;
}

function onWorker(): Problem {
  return new Problem('route.not-found', 'This instance only runs jobs');
}

function lateProblem(): Problem {
  return Problem.unavailable('The request could not be answered in time');
}

/** Of a body that nobody here takes any more. */
function stuckProblem(): Problem {
  return Problem.unavailable('The request made no progress', { headers: { Connection: 'close' } });
}

/** Bytes that have come and gone on the connection of a request. */
function movedBy({ socket }: HttpRequest): number {
  return socket.bytesRead + socket.bytesWritten;
}

interface Outcome {
  seconds: number;
  span: RunningSpan | undefined;
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? undefined : value;
}

/** Names of OpenTelemetry's semantic conventions for HTTP; the path without its query, which may carry a token. */
function endSpan(
  span: RunningSpan,
  request: HttpRequest,
  { route, status }: { route: string; status: number },
): void {
  span.rename(route === 'none' ? request.method : `${request.method} ${route}`);
  span.set({
    'http.request.method': request.method,
    'http.route': route,
    'url.path': redact(shownPath(request)),
    'http.response.status_code': status,
    'gridgate.request_id': requestIdOf(request),
    ...prefixed(labelsOf(request)),
  });
  if (status >= 500) span.fail(new Error());
  span.end();
}

function prefixed(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [`gridgate.${name}`, value]),
  );
}

function recorder({ logger, metrics }: RequestMiddlewareInput) {
  const requests = metrics.counter('gridgate_http_requests_total', 'Requests by route and status', [
    'method',
    'route',
    'status',
  ]);
  const seconds = metrics.histogram('gridgate_http_request_seconds', 'Time to answer by route', [
    'method',
    'route',
  ]);
  return (request: HttpRequest, response: HttpResponse, { seconds: duration, span }: Outcome) => {
    const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
    const { method } = request;
    const status = response.writableFinished ? response.statusCode : 499;
    requests.inc({ method, route, status });
    seconds.observe({ method, route }, duration);
    if (span) endSpan(span, request, { route, status });
    logger[isOfOwnWorker(request) ? 'debug' : 'info'](
      {
        requestId: requestIdOf(request),
        method,
        path: shownPath(request),
        status,
        ms: Math.round(duration * 10_000) / 10,
        address: clientAddressOf(request),
        ...labelsOf(request),
        ...span?.ids,
      },
      REQUEST_LINE,
    );
  };
}

/** As many are named in one line of the log, at most half of them such that have ended. */
const MOST_NAMED = 20;
const MOST_ENDED = MOST_NAMED / 2;

/**
 * The requests under way, and the last that have ended since the last look: who held up the loop is among them.
 *
 * Kept in places that are used again: in a Map or Set each request costs 15 µs more (56 against 41 µs of processor
 * time for `GET /health/live`), since the tables that these leave behind keep dead requests alive.
 */
export class RequestsUnderWay {
  private readonly open: (Request | undefined)[] = [];
  private readonly free: number[] = [];
  private readonly ended = new Array<Request | undefined>(MOST_ENDED).fill(undefined);
  private finished = 0;

  /** Answers the place by which the request is to be ended. */
  begin(request: Request): number {
    const place = this.free.pop() ?? this.open.length;
    this.open[place] = request;
    return place;
  }

  end(place: number): void {
    this.ended[this.finished % MOST_ENDED] = this.open[place];
    this.finished += 1;
    this.open[place] = undefined;
    this.free.push(place);
  }

  /** Method, route (or path) and id of each, at most twenty; those that have ended first. */
  names(): string[] {
    const all = [...this.ended, ...this.open].filter((request) => request !== undefined);
    return all.slice(0, MOST_NAMED).map((request) => {
      const route = (request.route as { path?: string } | undefined)?.path;
      return `${request.method} ${route ?? shownPath(request)} ${requestIdOf(request)}`;
    });
  }

  /** Those that have ended are of no more interest. */
  forget(): void {
    if (this.finished > 0) this.ended.fill(undefined);
    this.finished = 0;
  }
}

/** RFC 9110 §9.2.1. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The caller of one request, who is known once it is admitted. */
class RequestCaller implements Caller {
  key: string | undefined;
  hasBegun = false;
  uses = 0;
  readonly permits: (() => void)[] = [];
  private client: AbortSignal | undefined;

  readonly mayChange: boolean;

  constructor(private request: HttpRequest | undefined) {
    this.mayChange = request !== undefined && !SAFE_METHODS.has(request.method);
  }

  get signal(): AbortSignal {
    return (this.client ??= this.request
      ? clientSignal(this.request)
      : new AbortController().signal);
  }

  /** The request is over; what still runs for it goes on. */
  end(isAnswered: boolean): void {
    if (!isAnswered) this.client ??= this.request && clientSignal(this.request);
    this.request = undefined; // else it would live as long as the last promise that was made for it
  }
}

/**
 * Headers that mean one thing. Node keeps the first of two and proxies often the last, so that each of them would see another
 * request (RFC 9112 §3.2, RFC 9110 §5.3). The parser refuses two lengths, and whoever reads it two proofs (`DPoP`).
 */
const ONCE = new Set(['host', 'authorization', 'content-type', 'origin']);

/**
 * What is wrong with the head of a request, whatever it asks for: 400 for a header that may stand there once and stands there
 * twice, 417 for an expectation other than `100-continue` (RFC 9110 §10.1.1). Undefined for a good one.
 */
function headFault({ headers, rawHeaders }: IncomingMessage): Problem | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!ONCE.has(name)) continue;
    if (seen.has(name)) {
      return new Problem('request.invalid', `Send the header ${rawHeaders[at]} once`);
    }
    seen.add(name);
  }
  const { expect } = headers;
  if (expect === undefined || isContinue(expect)) return undefined;
  const detail =
    'The only expectation that can be met is 100-continue: leave the header Expect out';
  return new Problem('request.expectation-failed', detail);
}

function isContinue(expect: string): boolean {
  return expect.split(',').every((one) => one.trim().toLowerCase() === '100-continue');
}

const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/**
 * The target of a request as a path with its query: clients may send the whole address (RFC 9112 §3.2.2), and nothing here
 * asks by which name it was reached.
 */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(ABSOLUTE, '');
  if (rest === target || rest.startsWith('/')) return rest;
  return `/${rest}`;
}

/** Who looks whether the process lives is told at once: it is about to be ended otherwise. */
export function isProbe(path: string): boolean {
  return path.startsWith('/health/') || path === '/metrics';
}

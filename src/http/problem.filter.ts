import {
  Catch,
  HttpException,
  Inject,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { machineProblem, Problem, stringifyJson } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import { ClientDisconnected } from './client-signal.js';
import { type HttpRequest, type HttpResponse, isOfOwnWorker, requestIdOf } from './messages.js';
import { tellBrowser } from './nothing-here.page.js';
import { problemAnswer } from './problem-body.js';
import { resourceMetadataUrl, withResourceMetadata } from './resource-metadata.js';
import { RouteTable } from './route-table.js';

/** Paths whose errors are OAuth's; routes are found in any case. */
const OAUTH = /^\/oauth2(?:[/?]|$)/i;

/** The only place that writes errors: anything thrown becomes a problem (RFC 9457), or an error of OAuth2 (RFC 6749 §5.2). */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  /** Named in every challenge that asks for an access token. */
  private readonly resourceMetadata: string;

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly routes: RouteTable,
    @Inject(CONFIG) { publicUrl }: Pick<Config, 'publicUrl'>,
  ) {
    this.resourceMetadata = resourceMetadataUrl(publicUrl);
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<HttpRequest>(), http.getResponse<HttpResponse>());
  }

  /** Answers the error, or cuts the connection when part of another answer has been sent. */
  answer(error: unknown, request: HttpRequest, response: HttpResponse): void {
    const problem = this.toProblem(error, request);
    if (problem.status >= 500 || problem.cause !== undefined) this.log(problem, request, response);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (problem.code === 'route.not-found' && tellBrowser(request, response)) return;
    const answer = problemAnswer(problem, requestIdOf(request), OAUTH.test(request.originalUrl));
    for (const name of response.getHeaderNames()) {
      if (/^(content-|etag|last-modified|accept-ranges)/.test(name)) response.removeHeader(name);
    }
    response.statusCode = answer.status;
    for (const [name, value] of Object.entries(answer.headers)) {
      const isChallenge = name === 'WWW-Authenticate';
      const whole = isChallenge ? withResourceMetadata(value, this.resourceMetadata) : value;
      response.setHeader(name, whole);
    }
    response.end(request.method === 'HEAD' ? undefined : stringifyJson(answer.body));
  }

  private toProblem(error: unknown, request: HttpRequest): Problem {
    if (error instanceof Problem) return error;
    const status = statusOf(error);
    if (status === 404 || status === 405) return this.routes.problemFor(request);
    if (status === 413) {
      return new Problem('request.too-large', 'The request is too large', { cause: error });
    }
    if (status !== undefined && status >= 400 && status < 500) {
      return new Problem('request.invalid', 'The request cannot be understood', { cause: error });
    }
    const ofMachine = machineProblem(error);
    if (ofMachine) return ofMachine;
    return new Problem('service.failure', 'Something went wrong on our side', { cause: error });
  }

  private log(problem: Problem, request: HttpRequest, response: HttpResponse): void {
    this.logger[levelOf(problem, request, response)](
      { requestId: requestIdOf(request), code: problem.code, err: problem.cause },
      problem.detail,
    );
  }
}

/** Clients that hang up are no trouble of ours: the line of the request has them with status 499. */
function levelOf(
  problem: Problem,
  request: HttpRequest,
  response: HttpResponse,
): 'debug' | 'warn' | 'error' {
  if (problem.status === 500) return 'error';
  if (isOfOwnWorker(request)) return 'debug'; // which says itself what it cannot do
  const isGone = problem.status < 500 && response.destroyed;
  return isGone || problem instanceof ClientDisconnected ? 'debug' : 'warn';
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof URIError) return 400;
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' ? status : undefined;
}

import { PROBLEM_CODES, type ProblemCode } from './problem-codes.js';

/** One fault of the input: which field (or parameter) and what is wrong with it. */
export interface Violation {
  field: string;
  problem: string;
  /** What works instead of what is not offered. */
  instead?: string;
}

/** Most faults that an answer names, and most characters of each text in it: it is never longer than its request. */
const MAX_VIOLATIONS = 100;
const MAX_TEXT = 300;
const MAX_DETAIL = 2_000;

/** What a Problem may carry beside its code and detail. */
export interface ProblemOptions {
  violations?: Violation[];
  /** Seconds for the `Retry-After` header. */
  retryAfterSeconds?: number;
  /** Further headers of the answer, for example `WWW-Authenticate` or `Allow`. */
  headers?: Record<string, string>;
  /** Further members of the body (RFC 9457 extension members). */
  members?: Record<string, unknown>;
  /** For the log, never for the caller. */
  cause?: unknown;
}

/**
 * The one error the server throws. `code` is from the closed list and decides status and title, `detail` is a
 * sentence for the caller, `cause` is for the log. Answered as application/problem+json (RFC 9457) by
 * http/problem.filter.ts, which is the only place that writes errors.
 */
export class Problem extends Error {
  readonly detail: string;
  readonly status: number;
  readonly title: string;
  readonly violations: Violation[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string>;
  readonly members: Record<string, unknown>;

  constructor(
    readonly code: ProblemCode,
    detail: string,
    options: ProblemOptions = {},
  ) {
    const shown = shortened(detail, MAX_DETAIL);
    const { status, title } = PROBLEM_CODES[code];
    const { stackTraceLimit } = Error;
    // A fault of the caller's says nothing of the code. A bulk request has thousands, and their stacks were a third of its time.
    if (status < 500) Error.stackTraceLimit = 0;
    super(`${code}: ${shown}`, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Problem';
    this.detail = shown;
    this.status = status;
    this.title = title;
    this.violations = options.violations?.slice(0, MAX_VIOLATIONS).map(shortenedViolation);
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
  }

  /** 400 with the list of faults; the detail names them when none is given. */
  static invalid(violations: Violation[], detail?: string): Problem {
    const named = violations.slice(0, MAX_VIOLATIONS).map(shortenedViolation);
    const text = detail ?? named.map(sentenceOf).join('; ');
    return new Problem('request.invalid', text, { violations });
  }

  /** 400 for one field. */
  static invalidField(field: string, problem: string): Problem {
    return Problem.invalid([{ field, problem }]);
  }

  /** 503 with `Retry-After`: something the service needs is away for a while. */
  static unavailable(detail: string, options: ProblemOptions = {}): Problem {
    return new Problem('service.unavailable', detail, { retryAfterSeconds: 2, ...options });
  }
}

function sentenceOf({ field, problem, instead }: Violation): string {
  return `${field}: ${problem}${instead === undefined ? '' : `; instead: ${instead}`}`;
}

function shortenedViolation({ field, problem, ...rest }: Violation): Violation {
  return { field: shortened(field, MAX_TEXT), problem: shortened(problem, MAX_TEXT), ...rest };
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`; // no half of a surrogate pair
}

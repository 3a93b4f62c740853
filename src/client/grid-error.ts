import { isJsonObject, parseJson } from '#src/kernel/json.js';
import type { Violation } from './generated/schemas.js';

/** What an error says: the members of a problem document, as far as the answer has them. */
export interface GridProblem {
  title?: string;
  detail?: string;
  code?: string;
  violations?: Violation[];
  [name: string]: unknown;
}

/** An error that the service has answered, or that kept it from answering (status 0, code `network`). */
export class GridError extends Error {
  override readonly name = 'GridError';
  readonly status: number;
  /** A code of the closed list, `network`, or `unknown` when the answer was no problem document. */
  readonly code: string;
  readonly violations: readonly Violation[];
  /** Seconds to wait before another try, when the service said so. */
  readonly retryAfter: number | undefined;
  /** The whole answer. */
  readonly problem: GridProblem;

  constructor(
    status: number,
    problem: GridProblem,
    options: { retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(problem.detail ?? problem.title ?? `The service answered ${status}`, options);
    this.status = status;
    this.problem = problem;
    this.code = problem.code ?? 'unknown';
    this.violations = problem.violations ?? [];
    this.retryAfter = options.retryAfter;
  }

  /** The error of an answer with a status of 400 or more. */
  static async of(answer: Response): Promise<GridError> {
    const text = await answer.text().catch(() => '');
    const wait = Number(answer.headers.get('Retry-After') ?? Number.NaN);
    const retryAfter = Number.isFinite(wait) ? wait : undefined;
    return new GridError(answer.status, problemOf(text), { retryAfter });
  }
}

function problemOf(text: string): GridProblem {
  try {
    const problem = parseJson(text);
    if (isJsonObject(problem)) return problem;
  } catch {
    // something between the service and us has answered
  }
  return { detail: 'The answer is not one of the service' };
}

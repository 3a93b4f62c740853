import { Problem } from '#src/kernel/index.js';

/** Failures before anything was sent. */
const UNASKED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What was wrong: no answer in time, an answer that refuses the service, or one that makes no sense. */
export type ElementFaultKind = 'away' | 'refused' | 'odd';

/** 503 that names a storage element; never an address, a header or a token. */
export class ElementFault extends Problem {
  constructor(
    readonly element: string,
    readonly kind: ElementFaultKind,
    /** What it did, behind its name. */
    text: string,
    /** False: the request has certainly not reached it. */
    readonly wasAsked = true,
  ) {
    super('service.unavailable', `${element} ${text}`, { retryAfterSeconds: 2 });
  }

  /** What came of an exchange that failed. The error stays behind: those of undici name addresses. */
  static ofError(element: string, error: unknown): ElementFault {
    const { code } = error as { code?: unknown };
    return new ElementFault(
      ...[element, 'away' as const],
      `does not answer${typeof code === 'string' ? ` (${code})` : ''}`,
      !UNASKED.has(String(code)),
    );
  }

  /** What an answer with this status says. */
  static ofStatus(element: string, status: number): ElementFault {
    const isAway = status === 429 || (status > 500 && status < 600);
    const isRefused = status === 401 || status === 403;
    const kind = isAway ? 'away' : isRefused ? 'refused' : 'odd';
    return new ElementFault(element, kind, `answers ${status}`, ![429, 503].includes(status));
  }
}

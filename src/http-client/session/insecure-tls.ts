import { isProduction } from '../message/environment.js';
import { SSLError } from '../message/errors.js';
import type { PreparedRequest } from '../message/messages.js';

/** Unverified TLS is for tests: said once, and refused in production unless it is asked for explicitly. */
export class InsecureTls {
  #hasWarned = false;

  /** Throws SSLError in production unless it is allowed. */
  check(prepared: PreparedRequest, isAllowed: boolean): void {
    if (!/^https:/i.test(prepared.url)) return;
    if (isProduction() && !isAllowed) {
      throw new SSLError('verify: false is refused in production, see allow_insecure_tls', {
        request: prepared,
      });
    }
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    process.emitWarning(
      'TLS certificates are not verified (verify: false)',
      'InsecureRequestWarning',
    );
  }
}

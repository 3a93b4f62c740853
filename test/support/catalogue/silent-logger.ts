import { createLogger, type Logger } from '#src/runtime/index.js';

/** A logger that writes nothing. */
export function silentLogger(): Logger {
  return createLogger('silent');
}

import type { LoggerService } from '@nestjs/common';
import pino, { type Logger as PinoLogger } from 'pino';
import { redact } from './redact.js';

/** The service's logger: JSON lines with time, level and fields. */
export type Logger = PinoLogger;

/** Injection token of the Logger. */
export const LOGGER = Symbol('Logger');

/** Makes the logger; every line passes the redaction, whoever wrote it, and has the members of the mixin. */
export function createLogger(
  level: string,
  destination?: pino.DestinationStream,
  mixin?: () => object,
): Logger {
  return pino(
    {
      level,
      ...(mixin && { mixin }),
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      hooks: {
        streamWrite: redact,
      },
    },
    destination ?? gathered(pino.destination({ fd: 2, sync: false, minLength: 0 })),
  );
}

/** The message of the line that each request leaves. */
export const REQUEST_LINE = 'request';
/** So long the lines of requests wait for one another. */
const GATHER_MS = 20;
const MOST_GATHERED = 64 * 1024;

/** From this level on a line is written at once. */
const WARNING = pino.levels.values['warn'] as number;

/**
 * The lines of requests are written together, some fifty times a second: a call of the system for each of them took a
 * tenth of the time of a small read. Warnings and errors are written at once, all other lines (the audit trail) at the end of the
 * turn of the event loop, each behind those that wait.
 */
function gathered(file: pino.DestinationStream): pino.DestinationStream {
  let held = '';
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;
  const write = (): void => {
    clearTimeout(timer);
    clearImmediate(soon);
    timer = soon = undefined;
    if (held !== '') file.write(held);
    held = '';
  };
  process.prependListener('exit', write);
  const stream = {
    [Symbol.for('pino.metadata')]: true, // has pino say what the line is
    lastMsg: undefined as string | undefined,
    lastLevel: 0,
    write(line: string): void {
      held += line;
      if (stream.lastLevel >= WARNING || held.length > MOST_GATHERED) write();
      else if (stream.lastMsg !== REQUEST_LINE) soon ??= setImmediate(write);
      else timer ??= setTimeout(write, GATHER_MS).unref();
    },
  };
  return stream;
}

/** A logger of level info that appends to a file; the file and its folder are made with the first line. */
export function createFileLogger(path: string): Logger {
  let file: pino.DestinationStream | undefined;
  const destination = {
    write(line: string): void {
      file ??= pino.destination({ dest: path, mkdir: true, sync: true, append: true, mode: 0o600 });
      file.write(line);
    },
  };
  return createLogger('info', destination);
}

function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' ? 'not an Error' : error;
  const { name, message, stack } = error;
  const code = (error as { code?: unknown }).code;
  const cause = error.cause === undefined ? undefined : serializeError(error.cause);
  return { name, message, code, stack, cause };
}

/** Nest's own messages through the same logger. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: string): void {
    this.logger.debug({ context }, String(message));
  }

  error(message: unknown, stack?: string, context?: string): void {
    this.logger.error({ context, stack }, String(message));
  }

  warn(message: unknown, context?: string): void {
    this.logger.warn({ context }, String(message));
  }

  debug(message: unknown, context?: string): void {
    this.logger.debug({ context }, String(message));
  }

  verbose(message: unknown, context?: string): void {
    this.logger.trace({ context }, String(message));
  }
}

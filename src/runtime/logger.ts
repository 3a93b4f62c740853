import type { LoggerService } from '@nestjs/common';
import pino, { type Logger as PinoLogger } from 'pino';

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

const HIDDEN = '[hidden]';
/** A run of what a JWT is made of, looked at once: a search for the JWT itself would begin anew at each `eyJ`. */
const DOTTED_RUN = /(?<![\w.-])[\w.-]{12,}/g;
const JWT_START = 'eyJ';
const PARAMETERS =
  /\b(access_token|refresh_token|id_token|token|code|code_verifier|device_code|user_code|client_secret|client_assertion|subject_token|actor_token|password|state|authz|X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token)=[^&\s"\\]+/gi;
const MEMBERS =
  /(\\?"(?:access_token|refresh_token|id_token|code_verifier|device_code|client_secret|client_assertion|subject_token|password|authorization|cookie)\\?"\s*:\s*\\?")[^"\\]+/gi;
const SCHEMES = /\b(Bearer|Basic|DPoP)\s+[A-Za-z0-9._~+/=-]{6,}/gi;
/** Within one text of JSON: what follows in the line is not a part of the password. */
const DATABASE_URL = /(postgres(?:ql)?:\/\/[^:@/\s"\\]+:)(?:(?!postgres)(?:\\[^\s]|[^@\s"\\]))+@/gi;
/** What a line of the audit trail has; within a text its quotes would be escaped. */
const TRAIL = '"channel":"audit"';

/**
 * Takes tokens, codes and secrets out of a log line, in whatever field or text they stand; linear in its length. Nearly all
 * lines have nothing of what most patterns begin with, which is found out in a twentieth of the time of the pattern.
 *
 * Lines of the audit trail stay as they are: their fields are a closed list without any secret, and whatever a name that users
 * choose looks like, the trail has to tell what was done with it.
 */
export function redact(line: string): string {
  if (line.includes(TRAIL)) return line;
  let text = line;
  if (text.includes(JWT_START)) text = text.replace(DOTTED_RUN, withoutJwt);
  if (text.includes('=')) text = text.replace(PARAMETERS, `$1=${HIDDEN}`);
  text = text.replace(MEMBERS, `$1${HIDDEN}`).replace(SCHEMES, `$1 ${HIDDEN}`);
  return text.includes('://') ? text.replace(DATABASE_URL, `$1${HIDDEN}@`) : text;
}

/** Hides a run from its first JWT on: `eyJ`, eight more characters, and two more parts behind dots. */
function withoutJwt(run: string): string {
  const parts = run.split('.');
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const start = part.indexOf(JWT_START);
    const isLong = start >= 0 && part.length - start >= 11;
    if (isLong && parts[index + 1] && parts[index + 2] !== undefined) {
      return `${run.slice(0, at + start)}${HIDDEN}`;
    }
    at += part.length + 1;
  }
  return run;
}

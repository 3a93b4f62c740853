import { createHash, type X509Certificate } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { connect } from 'node:tls';
import type { Command } from 'commander';
import { select_proxy, Session } from '#src/http-client/index.js';
import { ConfigurationFault, readConfig, type Config } from '#src/config/index.js';
import { version } from '../../app/version.js';
import { createLogger } from '../../runtime/logger.js';
import { acquireProcessLock, LockHeldError, type ProcessLock } from '../../runtime/process-lock.js';
import {
  OutdatedClaimsError,
  runWorker,
  thisMachine,
  WorkerGoneError,
  WorkerLog,
  WorkerSession,
  WorkerStartError,
  type WorkerSettings,
} from '../../worker/index.js';
import { CommandError } from '../terminal/command-error.js';
import { command, group, type OptionRow, type OptionsOf } from '../terminal/command.js';
import { say, tell } from '../terminal/output.js';
import { chosenCa } from '../user/session-fetch.js';

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };
/** As it is shown, with or without colons. */
const FINGERPRINT = /^sha256:((?:[0-9a-f]{2}:?){32})$/i;
const CONNECT_MS = 10_000;
const CA_NAME = /^ca-[0-9a-f]{16}\.pem$/;
/** What a worker makes in its directory before it has a key. */
const OWN_NAMES = /^(lock(\..*)?|log(\.1)?|spool|jobs|ca-[0-9a-f]{16}\.pem|key\.pem\.new)$/;

/** Option → the setting of the service's own jobs that means the same. */
const LIMITS = {
  isolation: 'GRID_LOCAL_ISOLATION',
  accounts: 'GRID_LOCAL_ACCOUNTS',
  minFree: 'GRID_LOCAL_MIN_FREE',
  maxWallTime: 'GRID_JOB_WALL_TIME',
  maxMemory: 'GRID_JOB_MEMORY',
  maxProcesses: 'GRID_JOB_PROCESSES',
  maxOutput: 'GRID_JOB_MAX_OUTPUT',
  maxDisk: 'GRID_JOB_DISK',
  maxFiles: 'GRID_JOB_FILES',
  maxOpenFiles: 'GRID_JOB_OPEN_FILES',
  maxSandbox: 'GRID_MAX_SANDBOX',
  storageCa: 'GRID_STORAGE_CA',
} as const;

const OPTIONS = [
  ['--server <url>', 'the service', { required: true, parse: serverOf }],
  ['--site <name>', 'the site whose jobs it runs', { required: true }],
  ['--directory <path>', 'its own directory, of nobody else', { required: true }],
  ['--secret-file <path>', 'file with a secret of the site, - for standard input; needed once'],
  [
    '--ca <ca>',
    'CA of the service: a PEM file, or sha256: and the fingerprint of one that it shows',
  ],
  ['--name <name>', 'its name, for people', { default: hostname() }],
  ['--processors <n>', 'processors for jobs; all unless told', { parse: countOf('--processors') }],
  ['--ram <mb>', 'memory for jobs, MB of 2^20 bytes; all unless told', { parse: countOf('--ram') }],
  ['--gpus <n>', 'GPUs for jobs; all unless told', { parse: countOf('--gpus', 0) }],
  ['--tag <tag>', 'what jobs may ask for', { repeated: true }],
  [
    '--isolation <level>',
    'how jobs are kept apart; auto: namespaces, or accounts',
    { choices: ['auto', 'namespaces', 'accounts', 'none'] },
  ],
  ['--network', 'jobs of sites with `network: host` may use the network'],
  ['--bind <path>', 'directory that jobs see: /cvmfs:ro or /scratch:rw', { repeated: true }],
  ['--accounts <range>', 'accounts for jobs, as root: 200000-265535'],
  ['--min-free <bytes>', 'with less on its disk no job is started'],
  ['--max-wall-time <seconds>', 'of a job'],
  ['--max-memory <mb>', 'of a job, MiB'],
  ['--max-processes <n>', 'of a job'],
  ['--max-output <bytes>', 'that a job may write into one file'],
  ['--max-disk <bytes>', 'of a job, all files together'],
  ['--max-files <n>', 'of a job'],
  ['--max-open-files <n>', 'of a process of a job'],
  ['--storage-ca <path>', 'CAs of storage elements, beside those that Node.js trusts'],
  ['--max-sandbox <bytes>', 'of what a job brings, and of what it leaves'],
  [
    '--lifetime <time>',
    'takes only jobs that end within it, such as 24h, and then ends',
    time('--lifetime'),
  ],
  ['--idle <time>', 'ends after so long without a job, such as 10m', time('--idle')],
] as const satisfies readonly OptionRow[];

type Options = OptionsOf<typeof OPTIONS>;

/** `gridgate worker run`: runs jobs of a site on this machine; it needs the service by HTTPS alone. */
export const workerRunCommand: Command = command('run', 'run jobs of a site on this machine', {
  options: OPTIONS,
  run: async (_, options) => {
    const directory = await ownDirectory(options.directory);
    const lock = await lockOf(directory);
    try {
      say(ENDS[await runWorker(await settingsOf(directory, options), untilSignals())]);
    } catch (error) {
      throw explained(error);
    } finally {
      await lock.release();
    }
  },
});

/** That command alone, beside those of users. */
export function workerRunCommands(): { commands: Command[]; close: () => Promise<void> } {
  const commands = [group('worker', 'programs that run jobs of sites', [workerRunCommand])];
  return { commands, close: () => process.exit() }; // programs of jobs may go on
}

const OPEN_NETWORK =
  'without namespaces nothing keeps jobs from the network of this machine, though --network is not given';

const ANY_WALL_TIME =
  'with --lifetime it takes jobs with a WallTime that fits; --max-wall-time lets it take those without';

const ENDS = {
  drained: 'the worker is drained and has ended',
  idle: 'the worker had no job for as long as it may and has ended',
  stopped:
    'the worker has ended; programs of jobs go on, and the next start in its directory finds them',
};

function explained(error: unknown): unknown {
  if (error instanceof WorkerStartError) return new CommandError(error.message, 2, error.hint);
  if (error instanceof WorkerGoneError) {
    const hint = 'its programs were ended; with a secret of its site it can begin anew';
    return new CommandError(error.message, 1, hint);
  }
  if (error instanceof OutdatedClaimsError) {
    const hint =
      'give each worker a directory of its own; one from a backup begins anew without key.pem and worker.json';
    return new CommandError(error.message, 1, hint);
  }
  return error;
}

async function settingsOf(directory: string, options: Options): Promise<WorkerSettings> {
  const { server, site, name, ca, tag: tags, network = false, maxWallTime } = options;
  const { idle: idleMs, lifetime: lifetimeMs } = options;
  const logger = createLogger('info', new WorkerLog(join(directory, 'log')));
  const machine = await machineOf(options);
  const config = configOf(directory, machine.processors, options);
  const trusted = await (ca === undefined
    ? keptAuthority(directory)
    : authority(server, ca, directory));
  chosenCa(trusted);
  const secret = await secretOf(options.secretFile);
  return {
    ...{ directory, config, machine, tags, allowsNetwork: network, idleMs, lifetimeMs, logger },
    connect: (facts, signal) =>
      WorkerSession.open({
        ...{ directory, server, site, ca: trusted, secret, logger, signal },
        words: { name, version: version(), facts },
      }),
    onReady: ({ id, isolation }) => {
      say(`worker ${id} takes jobs of ${site} from ${server}; isolation ${isolation}`);
      if (isolation !== 'namespaces' && !network) tell(OPEN_NETWORK);
      if (lifetimeMs !== undefined && maxWallTime === undefined) tell(ANY_WALL_TIME);
    },
  };
}

/** What jobs may have of the machine. Throws CommandError for more than it has. */
async function machineOf({ processors, ram, gpus }: Options): Promise<WorkerSettings['machine']> {
  const whole = await thisMachine();
  if (ram !== undefined && ram > whole.ramMB) {
    const text = `--ram ${ram} is more than the machine has`;
    throw new CommandError(text, 2, `it has ${whole.ramMB} MB`);
  }
  if (gpus !== undefined && gpus > whole.gpus.length) {
    const text = `--gpus ${gpus} is more than the machine has`;
    throw new CommandError(text, 2, `it has ${whole.gpus.length}: see nvidia-smi -L`);
  }
  return {
    processors: processors ?? whole.processors,
    ramMB: ram ?? whole.ramMB,
    gpus: whole.gpus.slice(0, gpus),
  };
}

/** What an option says wrong is told by its own name. Throws CommandError. */
function configOf(directory: string, processors: number, options: Options): Config {
  const names = Object.entries(LIMITS) as [keyof typeof LIMITS, string][];
  const limits = names.flatMap(([option, name]) =>
    options[option] === undefined ? [] : [[name, String(options[option])]],
  );
  try {
    return readConfig({
      ...(Object.fromEntries(limits) as NodeJS.ProcessEnv),
      ...{
        GRID_HOME: directory,
        GRID_LOCAL_EXECUTOR: 'true',
        GRID_LOCAL_SLOTS: String(processors),
      },
      GRID_LOCAL_BINDS: options.bind.join(','),
    });
  } catch (error) {
    if (!(error instanceof ConfigurationFault)) throw error;
    const text = names.reduce(
      (message, [option, name]) => message.replaceAll(name, `--${kebab(option)}`),
      error.message.replaceAll('GRID_LOCAL_BINDS', '--bind'),
    );
    throw new CommandError(text, 2);
  }
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Everybody may pass through it, as accounts of jobs have to; what is in it is the worker's. One that has anything else, or is somebody
 * else's, is left as it is.
 */
async function ownDirectory(path: string): Promise<string> {
  const directory = resolve(path);
  try {
    await mkdir(directory, { recursive: true, mode: 0o711 });
    const { uid } = await stat(directory);
    const names = await readdir(directory);
    const isOwn = names.includes('key.pem') || names.every((name) => OWN_NAMES.test(name));
    if (uid !== process.getuid?.() || !isOwn) {
      const text = `--directory ${path} has files of others, or is somebody else's`;
      throw new CommandError(text, 2, 'give the worker a directory of its own, such as a new one');
    }
    await chmod(directory, 0o711);
    return await realpath(directory);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`--directory ${path} cannot be used (${codeOf(error)})`, 2);
  }
}

async function lockOf(directory: string): Promise<ProcessLock> {
  try {
    return await acquireProcessLock(join(directory, 'lock'));
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    const text = `process ${error.pid} is the worker of ${directory} already`;
    throw new CommandError(text, 2, 'give each worker a directory of its own');
  }
}

async function secretOf(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    const text = await (path === '-' ? textOf(process.stdin) : readFile(path, 'utf8'));
    if (text.trim() !== '') return text.trim();
  } catch (error) {
    throw new CommandError(`--secret-file ${path} cannot be read (${codeOf(error)})`, 2);
  }
  throw new CommandError(`--secret-file ${path} is empty`, 2);
}

/** Path of a file with the CA. A fingerprint is that of a certificate which the service shows; it is kept in the directory. */
async function authority(server: string, ca: string, directory: string): Promise<string> {
  const wanted = FINGERPRINT.exec(ca)?.[1]?.replaceAll(':', '').toLowerCase();
  if (wanted === undefined) {
    await readFile(ca).catch((error: unknown) => {
      throw new CommandError(`--ca ${ca} cannot be read (${codeOf(error)})`, 2);
    });
    return resolve(ca);
  }
  const path = join(directory, `ca-${wanted.slice(0, 16)}.pem`);
  const known = await readFile(path).catch(() => undefined);
  if (known !== undefined) return path;
  const { proxies } = new Session().merge_environment_settings(server);
  if (select_proxy(server, proxies) !== undefined) {
    const text = `--ca ${ca}: a fingerprint is of what the service shows without a proxy`;
    throw new CommandError(text, 2, 'give --ca a PEM file with the CA');
  }
  const shown = await certificatesOf(server);
  const found = shown.find(({ raw }) => createHash('sha256').update(raw).digest('hex') === wanted);
  if (!found) {
    const text = `${server} shows no certificate with the fingerprint of --ca`;
    throw new CommandError(text, 2, 'look whether the address is right, or give --ca a PEM file');
  }
  await writeFile(path, found.toString());
  return path;
}

/** The one that was known by its fingerprint at an earlier start. */
async function keptAuthority(directory: string): Promise<string | undefined> {
  const kept = (await readdir(directory)).filter((name) => CA_NAME.test(name));
  return kept.length === 1 ? join(directory, kept[0] ?? '') : undefined;
}

async function certificatesOf(server: string): Promise<X509Certificate[]> {
  const { hostname: name, port } = new URL(server);
  const host = name.replace(/^\[|\]$/g, ''); // of an IPv6 address
  return new Promise((done, fail) => {
    const servername = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
    // Nothing is sent: what is shown counts by its fingerprint alone.
    const socket = connect({
      host,
      port: Number(port || 443),
      rejectUnauthorized: false,
      ...servername,
    });
    const away = (error: Error): void =>
      fail(
        new CommandError(
          `${server} cannot be reached: ${error.message}`,
          3,
          'is that the address of the service as this machine sees it, and is the service running?',
        ),
      );
    socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('it does not answer')));
    socket.once('error', away);
    socket.once('secureConnect', () => {
      const shown: X509Certificate[] = [];
      let next = socket.getPeerX509Certificate();
      while (next && shown.length < 10) {
        shown.push(next);
        next = next.issuerCertificate;
      }
      socket.destroy();
      done(shown);
    });
  });
}

/** The first interrupt drains; the second one, or a request to terminate, ends the worker now. */
function untilSignals(): { stop: AbortSignal; drain: AbortSignal } {
  const [stop, drain] = [new AbortController(), new AbortController()];
  const end = (): void => stop.abort(new Error('the worker was told to end'));
  process.on('SIGTERM', end);
  process.on('SIGHUP', end);
  process.on('SIGINT', () => {
    if (drain.signal.aborted) return end();
    tell('it takes no more jobs and ends when the last one has ended; press again to end it now');
    drain.abort();
  });
  return { stop: stop.signal, drain: drain.signal };
}

function serverOf(word: string): string {
  try {
    const url = new URL(word);
    if (['https:', 'http:'].includes(url.protocol)) return url.href.replace(/\/$/, '');
  } catch {
    // told below
  }
  throw new CommandError(
    `--server ${word} is no URL`,
    2,
    'give one such as https://grid.example.org',
  );
}

function countOf(option: string, least = 1): (word: string) => number {
  return (word) => {
    if (/^(0|[1-9]\d{0,8})$/.test(word) && Number(word) >= least) return Number(word);
    throw new CommandError(`${option} ${word} is no number from ${least} on`, 2);
  };
}

/** Of an option that is a time: milliseconds. */
function time(option: string): { parse: (word: string) => number } {
  return {
    parse: (word) => {
      const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(word) ?? [];
      if (number !== undefined) return Number(number) * (SECONDS[unit] ?? 1) * 1000;
      throw new CommandError(`${option} ${word} is no time`, 2, 'give a number with s, m, h or d');
    },
  };
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unreadable';
}

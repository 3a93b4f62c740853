import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Daemon, endProcessesBelow, waitUntil } from '../daemon.js';
import { freePorts } from '../ports.mjs';
import { accountingFault, slurmFault } from './packages.js';
import { SlurmDatabase } from './slurm-database.js';
import { CGROUP_CONF, GRES_CONF, nodeName, removeMemoryGroups, slurmConf } from './slurm-conf.js';

const run = promisify(execFile);
const COMMAND_TIMEOUT_MS = 15_000;

/** The account of batch jobs: it exists on every Debian and may do nothing. */
const BATCH_USER = { name: 'nobody', uid: 65_534, gid: 65_534 };

/** A one-node Slurm of this test alone: own keys, own ports, loopback only, everything in one directory. */
export class SlurmCluster {
  readonly user = BATCH_USER.name;
  readonly uid = BATCH_USER.uid;
  readonly nodeName = nodeName();
  readonly jwtKeyFile: string;
  readonly workDirectory: string;
  /** A directory in which payloads may write. */
  readonly scratch: string;
  private administrator: NodeJS.Timeout | undefined;

  constructor(
    readonly directory: string,
    readonly url: string,
    readonly munge: Daemon,
    readonly controller: Daemon,
    readonly node: Daemon,
    readonly rest: Daemon,
    readonly accounting?: SlurmDatabase,
  ) {
    this.jwtKeyFile = join(directory, 'jwt.key');
    this.workDirectory = join(directory, 'work');
    this.scratch = join(directory, 'scratch');
  }

  /** What a server needs to run jobs on it. */
  get env(): Record<string, string> {
    return {
      GRID_SLURM_URL: this.url,
      GRID_SLURM_USER: this.user,
      GRID_SLURM_JWT_KEY: this.jwtKeyFile,
      GRID_SLURM_WORKDIR: this.workDirectory,
    };
  }

  /** Runs a Slurm command (squeue, scontrol …) as root; answers its standard output. */
  async command(program: string, ...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], SLURM_CONF: join(this.directory, 'slurm.conf') };
    const { stdout } = await run(program, args, { env, timeout: COMMAND_TIMEOUT_MS });
    return stdout;
  }

  /** kill -9 of the controller. */
  async killController(): Promise<void> {
    await this.controller.end('SIGKILL');
  }

  /**
   * Starts the controller again and waits until it answers. A controller that was killed gives the ids of jobs that it
   * has forgotten again, and the node, on which they still run, drains itself ("Duplicate jobid"), at any later time:
   * from here on an administrator watches and resumes it.
   */
  async startController(): Promise<void> {
    this.controller.start();
    this.administrator ??= setInterval(() => void this.resumeNode(), 1_000);
    await this.awaitNode();
  }

  /** Waits until the node takes jobs. */
  async awaitNode(): Promise<void> {
    await waitUntil(
      async () => {
        const state = await this.command('sinfo', '-h', '-o', '%T').catch(() => '');
        return /^(idle|mixed|allocated)\s*$/.test(state);
      },
      `the Slurm node to be up\n${await this.logs()}`,
      30_000,
    );
  }

  /** What an administrator does when the node was drained. */
  private async resumeNode(): Promise<void> {
    const state = await this.command('sinfo', '-h', '-o', '%T').catch(() => '');
    if (!/drain|down/.test(state)) return;
    const node = `NodeName=${this.nodeName}`;
    await this.command('scontrol', 'update', node, 'State=RESUME').catch(() => undefined);
  }

  /**
   * Waits until Slurm's queue is empty. A controller that was killed takes up to 40 s to notice that jobs of its last
   * saved state do not run, and queues them again; then the service is to take them out.
   */
  async awaitNoJobs(): Promise<void> {
    let queue = '';
    const isEmpty = async (): Promise<boolean> => {
      queue = (await this.command('squeue', '-h', '-o', '%i %u %T %r %k')).trim();
      return queue === '';
    };
    await waitUntil(isEmpty, "Slurm's queue to be empty", 75_000).catch((cause: unknown) => {
      throw new Error(`in Slurm's queue is left: ${queue}`, { cause });
    });
  }

  /** Names in a directory of the cluster; none when it does not exist. */
  async list(path: string): Promise<string[]> {
    return readdir(join(this.directory, path)).catch(() => []);
  }

  /** How many processes of the batch account have exactly this command line. */
  async payloads(commandLine: string): Promise<number> {
    const { stdout } = await run('ps', ['-u', this.user, '-o', 'args=']);
    return stdout.split('\n').filter((line) => line.trim() === commandLine).length;
  }

  /** Processes in whose arguments the text stands. */
  async tellingArguments(text: string): Promise<string[]> {
    const { stdout } = await run('ps', ['-e', '-o', 'args=']);
    return stdout.split('\n').filter((line) => line.includes(text));
  }

  /** Files below a directory with that text in them which an account can read. */
  async readableBy(uid: number, path: string, text: string): Promise<string[]> {
    const args = ['-r', '-l', '-s', '-F', text, path];
    // grep ends with 1 when nothing is found, with 2 when something cannot be read.
    const { stdout } = await run('grep', args, { uid, gid: uid }).catch((error: unknown) => ({
      stdout: (error as { stdout: string }).stdout,
    }));
    return stdout.split('\n').filter((line) => line !== '');
  }

  /** Ends all jobs and daemons and removes the directory. */
  async stop(): Promise<void> {
    clearInterval(this.administrator);
    await this.rest.end();
    await this.controller.end('SIGKILL');
    await this.node.end('SIGKILL');
    await this.accounting?.end();
    await endProcessesBelow(this.directory);
    await this.munge.end();
    await removeMemoryGroups();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** What the daemons have said, for messages. */
  async logs(): Promise<string> {
    const names = ['munged', 'mariadbd', 'slurmdbd', 'slurmctld', 'slurmd', 'slurmrestd'];
    const texts = names.map(async (name) => {
      const text = await readFile(join(this.directory, `${name}.log`), 'utf8').catch(() => '');
      return `--- ${name}\n${text.slice(-2_000)}`;
    });
    return (await Promise.all(texts)).join('\n');
  }
}

/** What is different from the usual cluster. */
export interface SlurmOptions {
  /** Lines of slurm.conf. */
  settings?: Readonly<Record<string, string | number>>;
  /** With slurmdbd and a database. */
  hasAccounting?: boolean;
}

/** Starts munged, slurmctld, slurmd and slurmrestd. Throws with a clear sentence when something is missing. */
export async function startSlurm(options: SlurmOptions = {}): Promise<SlurmCluster> {
  const { settings = {}, hasAccounting = false } = options;
  const fault = hasAccounting ? accountingFault() : slurmFault();
  if (fault !== undefined) throw new Error(`Slurm cannot be started: ${fault}`);
  const directory = await mkdtemp(join(tmpdir(), 'grid-slurm-'));
  const ports = await freePorts(5);
  const [controllerPort = 0, nodePort = 0, restPort = 0, ...databasePorts] = ports;
  await furnish(directory);
  const accounting = hasAccounting
    ? await SlurmDatabase.furnish(directory, databasePorts)
    : undefined;
  await writeFile(
    join(directory, 'slurm.conf'),
    slurmConf({ directory, controllerPort, nodePort }, { ...accounting?.settings, ...settings }),
  );
  const cluster = assemble(directory, restPort, accounting);
  try {
    await startAll(cluster);
  } catch (error) {
    const logs = await cluster.logs();
    await cluster.stop();
    throw new Error(`Slurm does not start: ${(error as Error).message}\n${logs}`, { cause: error });
  }
  return cluster;
}

async function furnish(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const name of ['munge', 'state', 'spool', 'work', 'scratch'])
    await mkdir(join(directory, name));
  await writeFile(join(directory, 'gres.conf'), GRES_CONF);
  await writeFile(join(directory, 'cgroup.conf'), CGROUP_CONF);
  await writeFile(join(directory, 'munge.key'), randomBytes(1_024), { mode: 0o600 });
  await writeFile(join(directory, 'jwt.key'), randomBytes(32), { mode: 0o600 });
  await chown(join(directory, 'scratch'), BATCH_USER.uid, BATCH_USER.gid);
}

function assemble(
  directory: string,
  restPort: number,
  accounting: SlurmDatabase | undefined,
): SlurmCluster {
  const at = (name: string) => join(directory, name);
  const env = { SLURM_CONF: at('slurm.conf'), GRID_TEST_PLACE: directory };
  const munge = new Daemon({
    program: 'munged',
    args: [
      ...['--foreground', `--key-file=${at('munge.key')}`, `--socket=${at('munge/socket')}`],
      ...[`--pid-file=${at('munge/pid')}`, `--seed-file=${at('munge/seed')}`],
      ...[`--log-file=${at('munge/log')}`],
    ],
    env,
    log: at('munged.log'),
  });
  const controller = new Daemon({ program: 'slurmctld', args: ['-D'], env, log: at('ctld.out') });
  const node = new Daemon({ program: 'slurmd', args: ['-D'], env, log: at('slurmd.out') });
  const plugins =
    accounting === undefined ? 'openapi/v0.0.38' : 'openapi/v0.0.38,openapi/dbv0.0.38';
  // slurmrestd refuses to work as root and as SlurmUser; with JWT it speaks in the name of the token's user.
  const rest = new Daemon({
    program: 'slurmrestd',
    args: ['-a', 'rest_auth/jwt', '-s', plugins, '-t', '8', `127.0.0.1:${restPort}`],
    env: { ...env, SLURM_JWT: 'daemon' },
    uid: BATCH_USER.uid,
    gid: BATCH_USER.gid,
    log: at('slurmrestd.log'),
  });
  const url = `http://127.0.0.1:${restPort}`;
  return new SlurmCluster(directory, url, munge, controller, node, rest, accounting);
}

async function startAll(cluster: SlurmCluster): Promise<void> {
  cluster.munge.start();
  const socket = join(cluster.directory, 'munge', 'socket');
  await waitUntil(
    () =>
      run('munge', ['-n', '-S', socket], { timeout: 5_000 }).then(
        () => true,
        () => false,
      ),
    'munged',
  );
  await cluster.accounting?.start(async (...args) => cluster.command('sacctmgr', ...args));
  cluster.controller.start();
  cluster.node.start();
  await cluster.awaitNode();
  cluster.rest.start();
  await waitUntil(() => answers(cluster.url), 'slurmrestd');
}

/** Without a token the answer is 401, and that is an answer. */
async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/slurm/v0.0.38/ping`, { signal: AbortSignal.timeout(2_000) }).then(
    () => true,
    () => false,
  );
}

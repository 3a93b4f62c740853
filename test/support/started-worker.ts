import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markedProcesses, signal } from './faults/job-processes.js';
import { addSiteSecret } from './test-worker.js';
import { eventually, removeGroups, support, type Grid, type StartOptions } from './testbed.js';

/** Where a worker is and how it is started, when that is not the usual. */
export interface WorkerPlace extends Pick<StartOptions, 'root' | 'program' | 'through'> {
  /** Its directory; else one of its own, which goes with it. */
  directory?: string;
  /** Where programs are looked for, when that is not the PATH of the tests. */
  path?: string;
  /** The service, when that is not at the address of the grid. */
  server?: string;
}

/** A worker that runs programs: the built command in a directory of its own. */
export class StartedWorker {
  private child: ChildProcess | undefined;
  private secret: string | undefined;
  /** What it has said since it was started last. */
  output = '';

  private constructor(
    private readonly grid: Grid,
    readonly site: string,
    readonly directory: string,
    private readonly options: readonly string[],
    private readonly place: WorkerPlace,
  ) {}

  /** Starts one and waits until it takes jobs. The site is there. */
  static async start(
    grid: Grid,
    site: string,
    options: string[] = [],
    place: WorkerPlace = {},
  ): Promise<StartedWorker> {
    const directory = place.directory ?? (await mkdtemp(join(tmpdir(), 'gridgate-worker-')));
    if (place.directory === undefined) await chmod(directory, 0o711);
    const worker = new StartedWorker(grid, site, directory, options, place);
    worker.secret = (await addSiteSecret(grid, site)).secret;
    await worker.again();
    return worker;
  }

  /** Starts it again, in the same directory and with the same key. */
  async again(): Promise<void> {
    await this.begin();
    await eventually(() => Promise.resolve(this.output.includes(' takes jobs of ')), 'a worker');
  }

  /** Starts the program, wherever the service is. */
  async begin(): Promise<void> {
    const { through = [], root = support().root, program = process.execPath } = this.place;
    const { server = this.grid.url, path = process.env['PATH'] } = this.place;
    const words = ['worker', 'run', '--server', server, '--site', this.site];
    const more = ['--directory', this.directory, '--ca', join(this.grid.home, 'pki/ca.crt')];
    const [first, ...rest] = [...through, program, join(root, 'bin/gridgate.mjs')];
    this.output = '';
    const child = spawn(
      first,
      [...rest, ...words, ...more, '--secret-file', '-', ...this.options],
      {
        cwd: through.length > 0 ? '/' : root,
        env: { PATH: path, HOME: this.directory },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    child.stdin.end(this.secret);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => (this.output += text.toString()));
    }
    await once(child, 'spawn');
    this.child = child;
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  get isRunning(): boolean {
    const { child } = this;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  get id(): string {
    const text = readFileSync(join(this.directory, 'worker.json'), 'utf8');
    return (JSON.parse(text) as { id: string }).id;
  }

  /** Under this name its runs are marked. */
  get executor(): string {
    return `local:${readFileSync(join(this.directory, 'jobs/executor-id'), 'utf8').trim()}`;
  }

  /** Names of the runs whose directories are there. */
  get runs(): string[] {
    const path = join(this.directory, 'jobs/runs');
    return existsSync(path) ? readdirSync(path).filter((name) => /^\d/.test(name)) : [];
  }

  signal(name: NodeJS.Signals): void {
    this.child?.kill(name);
  }

  /** Its exit code, once it has ended. */
  async ended(): Promise<number | null> {
    const { child } = this;
    if (!child) return null;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode;
  }

  /** Ends it as an administrator does; its programs go on. */
  async stop(): Promise<void> {
    this.signal('SIGTERM');
    await this.ended();
  }

  /** kill -9; its programs go on. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }

  /** Ends it and its programs, and removes its directory. */
  async remove(): Promise<void> {
    await this.kill();
    const { executor } = this;
    for (const { pid } of markedProcesses(new Set([executor]))) signal(pid, 'SIGKILL');
    await removeGroups(executor);
    await rm(this.directory, { recursive: true, force: true });
  }
}

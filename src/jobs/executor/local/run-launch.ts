import { spawn } from 'node:child_process';
import { Problem } from '#src/kernel/index.js';
import { SandboxMissingError } from '../../sandbox/sandbox.store.js';
import { unpackArchive } from '../../sandbox/sandbox-archive.js';
import { MINOR } from '../../state/job-state.js';
import { wrapperArguments } from './job-wrapper.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { catalogueInputs, findProgram, RunFault, SITE_PATH } from './run-plan.js';
import { RUN_MARKER } from './process-table.js';

/**
 * Address space of one process for each byte of memory that the job may use. Programs reserve more than they use, and
 * a job that uses too much is to be ended with that reason, not to fail with one of its own.
 */
const ADDRESS_SPACE = 1.5;

/**
 * Makes everything ready that a run needs before its start. Throws RunFault when it can never start, and Problem
 * `service.unavailable` while the database or the sandbox store is away: that says nothing about the job.
 */
export async function prepareRun(context: LocalContext, run: LocalRun): Promise<void> {
  const { order, directory } = run;
  const { account, parts } = context;
  directory.remove(); // an earlier try of this very attempt, which was never started
  directory.create(account.owner);
  if (catalogueInputs(order).length > 0) {
    throw new RunFault(MINOR.inputFilesFailed, 'Files of the catalogue cannot be fetched here');
  }
  if (order.inputSandbox !== null) await unpackInput(context, run, order.inputSandbox);
  directory.handOver(account.owner, [run.plan.stdout, run.plan.stderr]);
  run.path = (await parts.pathOf(order.site)) ?? SITE_PATH;
  run.program = await findProgram(order, { work: directory.work, path: run.path, account });
}

async function unpackInput(context: LocalContext, run: LocalRun, hash: string): Promise<void> {
  const { store, config } = context.parts;
  const { owner } = context.account;
  try {
    await unpackArchive(await store.open(hash), run.directory.work, {
      maxBytes: config.maxSandboxBytes,
      ...(owner ? { owner } : {}),
    });
  } catch (cause) {
    if (isAway(cause)) throw cause;
    const isMissing = cause instanceof SandboxMissingError;
    const app = isMissing ? 'It is not in the store' : 'It cannot be unpacked';
    throw new RunFault(MINOR.inputSandboxFailed, app, { cause });
  }
}

/** True for the fault of something that the service needs and that will be back. */
export function isAway(error: unknown): boolean {
  return error instanceof Problem && error.code === 'service.unavailable';
}

/** Starts the wrapper of a prepared run and resolves when it has ended. Rejects when it cannot be started. */
export async function launchRun(
  context: LocalContext,
  run: LocalRun,
  slots: number,
): Promise<void> {
  const { config, clock } = context.parts;
  const { plan, order, directory } = run;
  const variables = Object.entries(plan.environment).map(([name, value]) => `${name}=${value}`);
  // The wrapper may be root, so variables of the user reach only the payload, after root's rights are given up.
  const environment = variables.length > 0 ? ['/usr/bin/env', '--', ...variables] : [];
  const child = spawn(
    '/bin/sh',
    wrapperArguments({
      workDirectory: 'work',
      cpuSeconds: order.cpuTime,
      memoryKiB: Math.ceil(config.jobMemoryMb * 1024 * ADDRESS_SPACE),
      fileBlocks: Math.ceil(config.jobOutputBytes / 512),
      processes: processLimit(context, slots),
      stdout: plan.stdout,
      stderr: plan.stderr,
      command: [...context.account.prefix, ...environment, run.program, ...plan.arguments],
    }),
    { cwd: directory.path, detached: true, stdio: 'ignore', env: environmentOf(context, run) },
  );
  run.startedMs = clock.now();
  child.unref();
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
}

/**
 * The kernel counts processes and threads of the whole account. This bound stops a fork bomb from taking the
 * machine; the limit of one job is kept by the watchdog.
 */
function processLimit(context: LocalContext, slots: number): number {
  const own = context.parts.config.jobProcesses;
  return context.account.owner ? own * (slots + 1) : own + 4096;
}

/** The environment is made anew: nothing of the service's own (tokens, database) is in it. */
function environmentOf(context: LocalContext, run: LocalRun): Record<string, string> {
  const { order, directory } = run;
  const { name } = context.account;
  return {
    PATH: run.path,
    HOME: directory.work,
    TMPDIR: directory.work,
    PWD: directory.work,
    LANG: 'C.UTF-8',
    USER: name,
    LOGNAME: name,
    SHELL: '/bin/sh',
    JOBID: String(order.jid),
    GRID_JOBID: String(order.jid),
    GRID_SITE: order.site,
    GRID_SETUP: order.setup,
    GRID_OWNER: order.owner,
    GRID_OWNER_GROUP: order.ownerGroup,
    [RUN_MARKER]: context.markOf(order),
  };
}

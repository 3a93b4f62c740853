import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { MachineFault } from '#src/kernel/index.js';
import {
  gpusOf,
  inputDataVariables,
  isAway,
  limitsOf,
  MINOR,
  resourceVariables,
  RunFault,
  SandboxMissingError,
  SITE_PATH,
  TOKEN_FILE_VARIABLE,
  unpackArchive,
  uploadedProgram,
  writeInputData,
} from '#src/jobs/run/index.js';
import { findProgram, refuseForeignProgram, requireInterpreter } from './find-program.js';
import { deviceFiles, visibleDevices } from './gpus.js';
import { RUN_FILES } from '../isolation/isolation.js';
import { trustedOwnAddress } from './network-rule.js';
import { launchScript } from './launch-script.js';
import { runName, TOKEN_FILE } from './run-directory.js';
import { giveToken } from './run-tokens.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { startProgram } from './start-program.js';
import { secondsOfBoot } from '../watch/process-table.js';
import { supervisorCommand } from '../isolation/supervisor.js';

/** Variable of every process of a run, by which people and tests find them. */
const RUN_MARKER = 'GRIDGATE_RUN';
/** Tells programs which GPUs they have; empty: none. */
const GPUS_VARIABLE = 'CUDA_VISIBLE_DEVICES';
/**
 * Where no control group bounds it: address space of one process for each byte of memory that the job may use. Programs reserve more than they use, and
 * a job that uses too much is to be ended with that reason, not to fail with one of its own.
 */
const ADDRESS_SPACE = 1.5;
const MIB = 2 ** 20;
/** The kernel counts threads, the limit of a job processes: this many for each, and some for what encloses it. */
const TASKS_PER_PROCESS = 4;
const SPARE_TASKS = 64;
/** At level `none` the kernel counts everything that the account does. */
const OTHER_TASKS = 4_096;

/**
 * Makes everything ready that a run needs before its start, but for files of the catalogue. What a job can write is given to it as the last
 * step, after them, and nothing in it is touched any more before the job is over. Throws RunFault when it can never start, and Problem
 * `service.unavailable` while the database or the sandbox store is away: that says nothing about the job.
 */
export async function prepareRun(context: LocalContext, run: LocalRun): Promise<void> {
  const { order, directory } = run;
  const { place, parts } = context;
  const { service } = parts;
  directory.create(place.accounts !== undefined);
  directory.writeOrder(parts.orderText(order));
  if (place.accounts) run.uid = await place.accounts.take(directory.path);
  if (order.inputSandbox !== null) await unpackInput(context, run);
  run.inputs = (await service.inputs(order)) ?? run.inputs;
  await refuseForeignProgram(run, parts.config.localPrograms);
  const { path = SITE_PATH, hasNetwork } = await service.siteOf(order);
  run.path = path;
  run.hasNetwork = place.isolation.level !== 'namespaces' || mayHaveNetwork(context, hasNetwork);
  run.program = await findProgram(order, { path: run.path, isolation: place.isolation });
  const uploaded = uploadedProgram(order);
  if (uploaded !== undefined) chmodSync(join(directory.work, uploaded), 0o755);
  await requireInterpreter(run, place.isolation);
  await giveToken(context, run);
  if (run.inputs.fetched.length === 0) await completeRun(context, run, run.inputs.text);
}

/** Writes the text that tells a run where its input data lies, and gives the run what is its own. */
export async function completeRun(
  context: LocalContext,
  run: LocalRun,
  text: string | undefined,
): Promise<void> {
  const { directory, uid } = run;
  const owner = uid === undefined ? undefined : { uid, gid: uid };
  await writeInputData(text, { directory: directory.work, owner });
  directory.handOver(uid, launchOf(context, run));
}

/** Whether a job may use the machine's network, which its site gives it; the registry may have changed since the start. */
function mayHaveNetwork({ parts }: LocalContext, isGiven: boolean): boolean {
  if (!isGiven || trustedOwnAddress(parts.config) === undefined) return isGiven;
  const app = 'Its site has the network of a machine whose addresses are believed';
  throw new RunFault(MINOR.initialization, app);
}

async function unpackInput(context: LocalContext, run: LocalRun): Promise<void> {
  const { config, service } = context.parts;
  const { uid } = run;
  try {
    await unpackArchive(await service.openInput(run.order), run.directory.work, {
      maxBytes: config.maxSandboxBytes,
      ...(uid === undefined ? {} : { owner: { uid, gid: uid } }),
    });
  } catch (cause) {
    if (isAway(cause)) throw cause;
    const isMissing = cause instanceof SandboxMissingError;
    const app = isMissing ? 'It is not in the store' : 'It cannot be unpacked';
    throw new RunFault(MINOR.inputSandboxFailed, app, { cause });
  }
}

function launchOf(context: LocalContext, run: LocalRun): string {
  const { order } = run;
  const { isolation } = context.place;
  const places = isolation.placesOf(run.directory.path);
  const tasks = context.parts.config.jobProcesses * TASKS_PER_PROCESS + SPARE_TASKS;
  return launchScript({
    work: places.work,
    program: run.program,
    arguments: run.plan.arguments,
    environment: {
      ...(run.directory.hasToken() && { [TOKEN_FILE_VARIABLE]: join(places.token, TOKEN_FILE) }),
      ...inputDataVariables(order, places.work),
      ...{ PATH: run.path, HOME: places.work, TMPDIR: places.tmp, PWD: places.work },
      ...{ LANG: 'C.UTF-8', USER: 'job', LOGNAME: 'job', SHELL: '/bin/sh' },
      JOBID: String(order.jid),
      GRID_JOBID: String(order.jid),
      GRID_SITE: order.site,
      GRID_SETUP: order.setup,
      GRID_OWNER: order.owner,
      GRID_OWNER_GROUP: order.ownerGroup,
      ...resourceVariables(order),
      [RUN_MARKER]: context.markOf(order),
      ...run.plan.environment,
    },
    tasks: isolation.level === 'none' ? tasks + OTHER_TASKS : tasks,
    isInit: isolation.launchesAsInit ?? false,
  });
}

/**
 * Starts the supervisor of a prepared run and resolves when it has ended. Rejects with the system's error when it cannot be started.
 */
export async function launchRun(context: LocalContext, run: LocalRun): Promise<void> {
  const { config, clock } = context.parts;
  const { isolation, taskset, root, groups } = context.place;
  const { plan, order, directory, uid } = run;
  const { hasNetwork, processors, gpus } = run;
  if (gpus.length < gpusOf(order)) throw new MachineFault('a job has fewer GPUs than it asked for');
  if (gpus.length > 0) directory.noteGpus(gpus.map(({ device }) => device));
  const bind =
    taskset === undefined || processors.length === 0 ? [] : [taskset, '-c', processors.join(',')];
  const { memoryMb } = limitsOf(order, config);
  const group = groups?.make(runName(order), memoryMb * MIB);
  if (group !== undefined) directory.noteGroup(group);
  // Programs with a GPU reserve more addresses than the machine has memory.
  const isBounded = group === undefined && gpus.length === 0;
  const supervisor = supervisorCommand({
    command: isolation.commandOf({
      ...{ path: directory.path, uid, hasNetwork, devices: deviceFiles(gpus) },
      hasToken: directory.hasToken(),
    }),
    filter: isolation.hasDescriptors && join(root.path, 'etc', 'filter'),
    cpuSeconds: order.cpuTime,
    memoryKiB: isBounded ? Math.ceil(config.jobMemoryMb * 1024 * ADDRESS_SPACE) : undefined,
    group: group && join(group, 'cgroup.procs'),
    fileBlocks: Math.ceil(config.jobOutputBytes / 512),
    openFiles: config.jobOpenFiles,
    startUntilSeconds: run.startUntilSeconds,
  });
  // The supervisor is bound as well: from it a later process of this service learns which processors are taken.
  const [program = '', ...words] = [...bind, ...supervisor];
  const stdout = directory.makeOutput(RUN_FILES.stdout, uid);
  const isOne = plan.stderr === plan.stdout;
  const stderr = isOne ? stdout : directory.makeOutput(RUN_FILES.stderr, uid);
  run.startedMs = clock.now();
  run.startedSeconds = secondsOfBoot();
  await startProgram({
    program,
    words,
    cwd: directory.path,
    output: { stdout, stderr },
    // Nothing of the service's own (tokens, database) is in it, and nothing of the job's: the shell may be root's.
    env: {
      PATH: SITE_PATH,
      [RUN_MARKER]: context.markOf(order),
      [GPUS_VARIABLE]: visibleDevices(gpus, isolation.level === 'namespaces'),
    },
  });
  run.wallSeconds = secondsOfBoot() - run.startedSeconds;
}

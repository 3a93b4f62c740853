/**
 * Starts isolated jobs through the service's own start path, or the bare command that encloses them. Reads a plan from
 * standard input: {home, kind: 'job' | 'bare', means: 'best' | 'util-linux', starts, parallel, ballastMiB}; prints
 * {seconds, processorMs, means}.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { processorTime } from './processor-time.mjs';

const { readConfig } = await import('#src/config/env.js');
const { systemClock } = await import('#src/kernel/index.js');
const { openPlace } = await import('#src/worker/runs/open-place.js');
const { LocalContext } = await import('#src/worker/runs/local-context.js');
const { removeGroup } = await import('#src/worker/isolation/memory-group.js');
const { launchRun, prepareRun } = await import('#src/worker/runs/run-launch.js');
const { ownProcessors, ProcessorPool } = await import('#src/worker/runs/processors.js');
const { findProgram, probeIsolation } = await import('#src/worker/isolation/probe.js');
const { systemView } = await import('#src/worker/isolation/system-view.js');

const PATH = '/usr/bin:/bin:/usr/sbin:/sbin';
const UTIL_LINUX = ['unshare', 'setpriv', 'mount', 'umount', 'pivot_root'];

const plan = JSON.parse(await text(process.stdin));
const config = readConfig({
  GRID_HOME: plan.home,
  DATABASE_URL: 'postgres://127.0.0.1/none',
  GRID_LOCAL_ISOLATION: 'namespaces',
});
const place = await openPlace(config);
const awake = setInterval(() => undefined, 60_000); // programs of jobs keep nobody awake
try {
  if (plan.means === 'util-linux') place.isolation = await byUtilLinux();
  const nothing = async () => undefined;
  const service = { inputData: nothing, token: nothing, siteOf: async () => ({}) };
  const orderText = (order) => JSON.stringify({ ...order, jid: String(order.jid) });
  const parts = { config, clock: systemClock, service, orderText };
  const context = new LocalContext(parts, place);
  const result = await (plan.kind === 'job' ? jobs(context) : bare(context));
  process.stdout.write(JSON.stringify({ ...result, means: place.isolation.means }));
} finally {
  clearInterval(awake);
  place.groups?.close();
  rmSync(place.root.path, { recursive: true, force: true });
  await place.accounts?.freeAbandoned(place.root.path);
}

async function byUtilLinux() {
  const path = join(plan.home, 'programs');
  mkdirSync(path, { recursive: true });
  for (const name of UTIL_LINUX) {
    rmSync(join(path, name), { force: true });
    symlinkSync(findProgram(name, PATH), join(path, name));
  }
  const trial = join(place.root.path, 'trial');
  const uid = await place.accounts?.take(trial);
  const { isolation, refusals } = await probeIsolation({
    wanted: 'namespaces',
    view: systemView([], []),
    directory: place.root.path,
    shmBytes: config.jobMemoryMb * 2 ** 19,
    uid,
    path,
  });
  if (!isolation) throw new Error(refusals.join('; '));
  return isolation;
}

function orderOf(jid) {
  return {
    ...{ jid, attempt: 1, site: 'bench', setup: 'Prod', owner: 'alice', ownerGroup: 'grid_user' },
    ...{ cpuTime: 86_400, manifest: { Executable: '/bin/true' }, inputSandbox: null },
  };
}

/** The way of every job from its directory to the end of its program, in a process as large as the service. */
async function jobs(context) {
  const ballast = Buffer.alloc(plan.ballastMiB * 2 ** 20, 1);
  const processors = new ProcessorPool(ownProcessors());
  let next = 0;
  return measured(process.pid, () =>
    parallel(async () => {
      while (next < plan.starts) {
        const run = context.newRun(orderOf((next += 1)));
        await prepareRun(context, run);
        run.processors = processors.take(1);
        await launchRun(context, run);
        processors.release(run.processors);
        if (run.group() !== undefined) removeGroup(run.group());
        if (run.directory.exit()?.code !== 0) throw new Error(`a job failed: ${ballast.length}`);
      }
    }),
  );
}

/** The same command for directories that are there, one after the other, by as many shells. */
async function bare(context) {
  const lines = Array.from({ length: plan.parallel }, () => []);
  for (let jid = 1; jid <= plan.starts; jid += 1) {
    const run = context.newRun(orderOf(jid));
    await prepareRun(context, run);
    const { isolation, root: runs } = place;
    const { path } = run.directory;
    const words = isolation.commandOf({
      ...{ path, uid: run.uid, hasNetwork: run.hasNetwork, devices: [] },
    });
    const files = isolation.hasDescriptors ? `3>${path}/status 4<${runs.path}/etc/filter` : '';
    lines[jid % plan.parallel].push(`${words.map(quoted).join(' ')} </dev/null ${files} || exit`);
  }
  const scripts = lines.map((script, index) => {
    const path = join(plan.home, `starts-${index}`);
    writeFileSync(path, `${script.join('\n')}\n`);
    return path;
  });
  return measured(process.pid, () => parallel((index) => ended(scripts[index])));
}

function ended(script) {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', [script], { stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${script}: ${code}`)),
    );
  });
}

async function measured(pid, work) {
  const [before, started] = [processorTime(pid), performance.now()];
  await work();
  const seconds = (performance.now() - started) / 1_000;
  return { seconds, processorMs: processorTime(pid) - before };
}

function parallel(work) {
  return Promise.all(Array.from({ length: plan.parallel }, (_, index) => work(index)));
}

function quoted(word) {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Starts the built server, in the host of this jest worker or as a child process, and waits until it says that it is ready. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startHostedServer } from './server-hosts.mjs';
import { collectStalls, supportHome } from './stalls.mjs';

const START_DEADLINE_MS = 300_000;
const STOP_DEADLINE_MS = 30_000;
const KEPT_LOG_BYTES = 200_000;

/** The environment of a server of the run; with a pooler (npm run test:database) it goes through it. */
export function throughPooler(env) {
  const { pooler, url } = JSON.parse(process.env.GRID_TEST_SUPPORT ?? '{}');
  const [before, after = ''] = url?.split('DATABASE') ?? [];
  const direct = env.DATABASE_URL;
  const isOurs = pooler && direct?.startsWith(before) && direct.endsWith(after);
  if (!isOurs || env.GRID_DATABASE_DIRECT_URL !== undefined) return env;
  const name = direct.slice(before.length, direct.length - after.length);
  return {
    ...env,
    DATABASE_URL: pooler.replace('DATABASE', name),
    GRID_DATABASE_DIRECT_URL: direct,
  };
}

/** What a server can be given that shares its process with others. */
const isSetting = (name) => /^(GRID_(?!PROCESSES$)|DATABASE_URL$)/.test(name);

export function startServerProcess(options) {
  const { env, ownProcess = false } = options;
  const special = ['entry', 'node', 'through', 'program', 'stallsIn'];
  const { hosts } = JSON.parse(process.env.GRID_TEST_SUPPORT ?? '{}');
  const isShared =
    hosts !== undefined &&
    !ownProcess &&
    !special.some((name) => name in options) &&
    Object.keys(env).every(isSetting);
  return isShared ? startHostedServer(hosts, throughPooler(env)) : startProcess(options);
}

function startProcess({
  root,
  env,
  entry = 'dist/src/main.js',
  node = [],
  through = [],
  program = process.execPath,
  stallsIn = supportHome(),
}) {
  const [first, ...words] = [...through, program, ...node, join(root, entry)];
  const child = spawn(first, words, {
    cwd: through.length > 0 ? '/' : root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      ...throughPooler(env),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', log: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.log = (output.log + text).slice(-KEPT_LOG_BYTES);
  });
  collectStalls(child, stallsIn);
  const exited = new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  const handle = {
    child,
    exited,
    log: () => output.log,
    onLog: (listener) => void child.stderr.on('data', listener),
    stdout: () => output.stdout,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return exited;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
      const result = await exited;
      clearTimeout(timer);
      return result;
    },
    async kill() {
      child.kill('SIGKILL');
      return exited;
    },
  };
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the server was not ready in time:\n${output.log}`));
    }, START_DEADLINE_MS);
    const look = () => {
      const match = /gridgate ready on (\S+)/.exec(output.stdout);
      if (!match) return;
      clearTimeout(timer);
      resolve(Object.assign(handle, { url: match[1] }));
    };
    child.stdout.on('data', look);
    exited.then(({ code, signal }) => {
      clearTimeout(timer);
      reject(new Error(`the server ended with ${signal ?? code}:\n${output.stdout}${output.log}`));
    });
  });
}

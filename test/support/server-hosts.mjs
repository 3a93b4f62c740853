/** The server hosts of a run, one for each jest worker: what startServerProcess uses unless a suite asks for a process of its own. */
import { fork } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const HOST = fileURLToPath(new URL('./server-host.mjs', import.meta.url));

const socketPath = (directory, worker) => join(directory, `host-${worker}.sock`);

/** Starts the hosts, their sockets in the directory; one that dies is started again, so that its fault is not that of all suites that follow. */
export async function startServerHosts(directory, workers) {
  const children = new Map();
  let isStopping = false;
  const start = (worker) =>
    new Promise((resolve, reject) => {
      const { PATH, HOME, TMPDIR } = process.env;
      const child = fork(HOST, [socketPath(directory, worker)], {
        execArgv: [],
        env: { PATH, HOME, ...(TMPDIR && { TMPDIR }) },
      });
      children.set(worker, child);
      child.once('message', resolve);
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (isStopping) return;
        process.stderr.write(`the server host ${worker} ended with ${signal ?? code}\n`);
        reject(new Error('a server host did not start'));
        void rm(socketPath(directory, worker), { force: true }).then(() => start(worker));
      });
    });
  await Promise.all(Array.from({ length: workers }, (_, index) => start(index + 1)));
  return {
    async stop() {
      isStopping = true;
      await Promise.all(
        [...children.values()].map((child) => {
          const ended = new Promise((resolve) => child.once('exit', resolve));
          child.disconnect();
          return ended;
        }),
      );
    },
  };
}

/** Starts a server in the host of this jest worker; rejects with what it says when it cannot start. */
export function startHostedServer(directory, env) {
  const socket = createConnection(socketPath(directory, process.env.JEST_WORKER_ID ?? '1'));
  const listeners = [];
  const send = (message) => socket.write(`${JSON.stringify(message)}\n`);
  const output = { stdout: '', log: '' };
  const exited = new Promise((resolve) => {
    socket.once('close', () => resolve({ code: output.isStopped ? 0 : 1, signal: null }));
  });
  const handle = {
    get child() {
      throw new Error('this server shares a process: start it with `ownProcess: true`');
    },
    exited,
    log: () => output.log,
    onLog: (listener) => void listeners.push(listener),
    stdout: () => output.stdout,
    async stop() {
      if (!socket.destroyed) send({ stop: true });
      return exited;
    },
    kill() {
      return handle.child;
    },
  };
  send({ environment: env });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    exited.then(() => reject(new Error(`the server ended:\n${output.log}`)));
    createInterface({ input: socket }).on('line', (line) => {
      const { url, log, fault, stopped } = JSON.parse(line);
      if (log !== undefined) {
        output.log += log;
        for (const listener of listeners) listener(log);
      }
      if (url !== undefined) {
        output.stdout = `gridgate ready on ${url}\n`;
        resolve(Object.assign(handle, { url }));
      }
      if (fault !== undefined) {
        output.log += fault;
        reject(new Error(`the server ended with 1:\n${output.log}`));
      }
      output.isStopped = stopped === true;
      if (output.isStopped || fault !== undefined) socket.end();
    });
  });
}

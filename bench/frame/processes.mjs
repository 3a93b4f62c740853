import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from '../../scripts/run.mjs';

/** Runs a program to its end with the given standard input; answers its output, rejects unless it ends with 0. */
export async function runToEnd(program, args, { input = '', signal, env } = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], signal, env });
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, by) => resolve(by ?? code));
  });
  child.stdin.on('error', () => undefined); // a child that ended early has said why on stderr
  child.stdin.end(input);
  const [output, faults, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${faults.trim()}`);
  return output;
}

/** Runs one of the frame's scripts, as it is in that checkout, with a plan; answers the object it prints. */
export async function runPlan(script, plan, signal, checkout = root) {
  const input = JSON.stringify(plan);
  return JSON.parse(
    await runToEnd(process.execPath, [join(checkout, 'bench/frame', script)], { input, signal }),
  );
}

/**
 * Starts a long-lived child and waits for a line of its standard output; answers the match and `stop`, which ends
 * the child and waits for its end.
 */
export function startUntil(args, pattern, { env, cwd, log, deadlineMs = 60_000 } = {}) {
  const stdio = ['ignore', 'pipe', log ?? 'inherit'];
  const child = spawn(process.execPath, args, { stdio, env: env ?? process.env, cwd });
  const exited = new Promise((resolve) => child.once('exit', (code, by) => resolve(by ?? code)));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
    await exited;
    clearTimeout(timer);
  };
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${args[0]} was not ready in ${deadlineMs} ms`));
    }, deadlineMs);
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
      const match = pattern.exec(output);
      if (!match) return;
      clearTimeout(timer);
      resolve({ match, pid: child.pid, stop });
    });
    exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`${args[0]} ended with ${code}`));
    });
  });
}

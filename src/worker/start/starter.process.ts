import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { StartAnswer, StartQuestion } from './starter.js';

const APPENDED = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/**
 * The process that starts programs for the service: a fork copies the tables of the memory of who forks, and of a service
 * with 300 MiB that takes ten times as long as of this one, in the thread that answers requests. It ends with its standard
 * input, that is with the service, however that ends; what it has started goes on.
 */
function start({ id, program, words, cwd, env, output, timeoutMs }: StartQuestion): void {
  const files: number[] = [];
  try {
    const paths = output ? new Set([output.stdout, output.stderr]) : [];
    for (const path of paths) files.push(openSync(path, APPENDED));
    const child = spawn(program, words, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', files[0] ?? 'ignore', files.at(-1) ?? 'ignore'],
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' as const }),
    });
    child.once('error', (error) => answer(faultOf(id, error)));
    child.once('exit', (code) => answer({ id, code }));
  } finally {
    for (const file of files) closeSync(file);
  }
}

function answer(text: StartAnswer): void {
  process.stdout.write(`${JSON.stringify(text)}\n`);
}

function take(line: string): void {
  const question = JSON.parse(line) as StartQuestion;
  try {
    start(question);
  } catch (error) {
    answer(faultOf(question.id, error as Error));
  }
}

function faultOf(id: number, { message, code }: NodeJS.ErrnoException): StartAnswer {
  return { id, fault: message, errno: code };
}

// Whoever ends the service decides about this process, too: it goes when the service has gone.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
process.stdout.on('error', () => process.exit());
createInterface({ input: process.stdin })
  .on('line', take)
  .on('close', () => process.exit());

import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MachineFault } from '#src/kernel/index.js';

const HEAP_MIB = 64;
const SCRIPT = fileURLToPath(new URL('./starter.process.js', import.meta.url));

/** A program that is to be started. */
export interface StartOrder {
  program: string;
  words: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Files that are there and become standard output and error, to which is appended; undefined for none. */
  output?: { stdout: string; stderr: string } | undefined;
  /** Ended after so long; undefined for never. */
  timeoutMs?: number | undefined;
}

/** What the starter is asked: one line of JSON each. */
export interface StartQuestion extends StartOrder {
  id: number;
}

/** What it answers, once for each question: the code of a program that has ended (null by a signal), or why there is none. */
export type StartAnswer =
  { id: number; code: number | null } | { id: number; fault: string; errno?: string | undefined };

/** The process that starts programs has ended: nobody can say whether this one was started. */
export class StarterExitedError extends Error {
  constructor() {
    super('the process that starts programs has ended');
    this.name = 'StarterExitedError';
  }
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** Starts programs through a small process of its own (see starter.process.ts); it is started anew when it has ended. */
export class Starter {
  private child: Child | undefined;
  /** Answers by the number of their question; `error` when no more will come. */
  private readonly answers = new EventEmitter().setMaxListeners(0).on('error', () => undefined);
  private last = 0;
  private isClosed = false;

  /** Starts the process now, while the service is small and has opened nothing. */
  open(): void {
    this.child ??= this.start();
  }

  /**
   * Starts a program in a session of its own and resolves with its code when it has ended, with null after a signal.
   * Rejects with StarterExitedError, and with Error when it cannot be started,
   * whose `code` is that of the system.
   */
  async run(order: StartOrder): Promise<number | null> {
    if (this.isClosed) throw new StarterExitedError();
    this.open();
    this.last += 1;
    const id = this.last;
    const answered = once(this.answers, String(id)) as Promise<[StartAnswer]>;
    this.child?.stdin.write(`${JSON.stringify({ id, ...order })}\n`);
    const [answer] = await answered;
    if ('code' in answer) return answer.code;
    throw Object.assign(new Error(answer.fault), { code: answer.errno });
  }

  /** Programs go on. */
  close(): void {
    this.isClosed = true;
    this.child?.stdin.end();
  }

  private start(): Child {
    const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, SCRIPT], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.unref();
    child.once('error', () => undefined);
    // Without files for its pipes, which Node does not throw.
    if (!isWhole(child)) throw new MachineFault('it has too many open files');
    for (const stream of [child.stdin, child.stdout]) unref(stream);
    child.stdin.on('error', () => undefined); // its end is told below
    createInterface({ input: child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as StartAnswer;
      this.answers.emit(String(answer.id), answer);
    });
    const end = (): void => {
      if (this.child !== child) return;
      this.child = undefined;
      this.answers.emit('error', new StarterExitedError());
    };
    child.once('error', end);
    child.once('close', end); // after the last line of its output
    return child;
  }
}

/** It has no streams when the process could not be made at all. */
function isWhole({ stdin }: { stdin: Writable | undefined }): boolean {
  return stdin !== undefined;
}

/** The service ends when nothing else keeps it. */
function unref(stream: Readable | Writable): void {
  if (stream instanceof Socket) stream.unref();
}

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { throughPooler } from './server-process.mjs';
import { support, type Grid, type Identity } from './testbed.js';

/** How a command has ended. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** What `gridgate login` keeps. */
export interface StoredLogin {
  server: string;
  token: Record<string, string | number> & { access_token: string; refresh_token?: string };
}

/** A person with a home of their own who runs the built `gridgate` command. */
export class CommandUser {
  constructor(readonly home: string) {}

  /** Runs a command to its end. */
  run(words: string[], env: Record<string, string> = {}): Promise<Ended> {
    return new Promise((resolve) => {
      const options = { env: this.environment(env), cwd: this.home, maxBuffer: 64 << 20 };
      execFile(process.execPath, [program(), ...words], options, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  }

  /** Runs a shell line at a terminal; `$GRIDGATE` is the command. What the terminal shows is `stdout`. */
  atTerminal(line: string): Promise<Ended> {
    const env = this.environment({ GRIDGATE: `${process.execPath} ${program()}`, TERM: 'xterm' });
    return new Promise((resolve) => {
      const words = ['-qfec', line, '/dev/null'];
      execFile('script', words, { env, cwd: this.home }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  }

  /** Runs a shell line without a terminal; `$GRIDGATE` is the program. */
  shell(line: string): Promise<Ended> {
    const env = this.environment({ GRIDGATE: program() });
    return new Promise((resolve) => {
      execFile('sh', ['-c', line], { env, cwd: this.home }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  }

  /** Starts a command that goes on. */
  start(words: string[]): RunningCommand {
    const options = { env: this.environment({}), cwd: this.home };
    return new RunningCommand(spawn(process.execPath, [program(), ...words], options));
  }

  /** Signs in with the certificate of a demo identity. */
  login(grid: Grid, name: Identity = 'alice'): Promise<Ended> {
    const pki = (file: string): string => join(grid.home, 'pki', file);
    const server = ['--server', grid.url, '--ca', pki('ca.crt')];
    return this.run([
      'login',
      ...server,
      '--cert',
      pki(`${name}.crt`),
      '--key',
      pki(`${name}.key`),
    ]);
  }

  get loginFile(): string {
    return join(this.home, '.config/gridgate/login.json');
  }

  async storedLogin(): Promise<StoredLogin> {
    return JSON.parse(await readFile(this.loginFile, 'utf8')) as StoredLogin;
  }

  /** Changes members of the stored token. */
  async editToken(token: Record<string, string | number>): Promise<void> {
    const login = await this.storedLogin();
    const edited = { ...login, token: { ...login.token, ...token } };
    await writeFile(this.loginFile, JSON.stringify(edited));
  }

  private environment(env: Record<string, string>): NodeJS.ProcessEnv {
    return { PATH: process.env['PATH'], HOME: this.home, ...throughPooler(env) };
  }
}

/** A command that is under way. */
export class RunningCommand {
  stdout = '';
  stderr = '';
  private readonly exit: Promise<unknown[]>;

  constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (text: Buffer) => (this.stdout += text.toString()));
    child.stderr?.on('data', (text: Buffer) => (this.stderr += text.toString()));
    this.exit = once(child, 'close');
  }

  async ended(): Promise<Ended> {
    const [code] = await this.exit;
    return { code: Number(code ?? 1), stdout: this.stdout, stderr: this.stderr };
  }
}

function program(): string {
  return join(support().root, 'bin/gridgate.mjs');
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processesBelow, waitUntil } from './daemon.js';
import { type Block } from './documentation.js';
import { support } from './testbed.js';

/** What the commands of a page meet. */
export interface PageSetting {
  /** Stands for `.grid` of the page. */
  gridHome: string;
  /** Stands for 8443 of the page. */
  port: number;
  env: Record<string, string>;
  /** A directory of programs that stand for those of the machine. */
  programs?: string;
  /** How long the whole page may take. */
  deadlineMs?: number;
  /** Visits what a block has started in the background. */
  visit?: (address: string) => Promise<void>;
}

/** What a page's commands have written, by line of their block; and why it ended early. */
export interface PageResult {
  outputs: Map<number, string>;
  complaint: string | undefined;
  /** Files and directories that a reader has in the checkout afterwards. */
  left: string[];
}

/** Of a checkout everything but the sources, which would be built anew: what stands there changes what a compiler does. */
const CHECKOUT = [
  ...[
    'package.json',
    'package-lock.json',
    '.npmrc',
    'node_modules',
    'dist',
    'bin',
    'docs',
    'deploy',
  ],
  ...['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'ormconfig.ts', 'typedoc.json'],
  ...['eslint.config.mjs', 'jest.config.mjs', 'knip.jsonc', 'python', 'packages', 'bench', 'test'],
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE', 'Dockerfile'],
];
/** What the test itself has put there. */
const OF_THE_TEST = new Set([...CHECKOUT, 'scripts', '.grid', '.short-cut', '.page.sh']);
const DEADLINE_MS = 90_000;
const END_OF_PAGE =
  'code=$?; for job in $(jobs -p); do kill -- -$job; wait $job || true; done; exit $code';
const PAGE_PORT = /localhost:8443/g;

/**
 * Executes the blocks of a page in their order, in one shell in a directory that looks like a checkout. Only the port
 * differs from what the page says. A block that fails ends the page.
 */
export async function runPage(blocks: Block[], setting: PageSetting): Promise<PageResult> {
  const folder = await mkdtemp(join(tmpdir(), 'grid-page-'));
  try {
    const { root } = support();
    await Promise.all(CHECKOUT.map((name) => symlink(join(root, name), join(folder, name))));
    // copied, so that npm start looks for sources here, and finds none to build anew
    await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
    await shortCut(folder);
    await symlink(setting.gridHome, join(folder, '.grid'));
    for (const { mark, text } of blocks) {
      if (mark?.kind === 'file') await writeFile(join(folder, mark.words), `${text}\n`);
    }
    const result = await new PageShell(folder, setting).run(blocks);
    return { ...result, left: await leftIn(folder) };
  } finally {
    // The worker of a service that the page has started ends after it, and writes until then.
    const isLeft = async (): Promise<boolean> => (await processesBelow(folder)).length === 0;
    await waitUntil(isLeft, 'the end of what the page has started');
    await rm(folder, { recursive: true, force: true });
  }
}

async function leftIn(folder: string): Promise<string[]> {
  const home = ['.cache', '.config', '.npm', '.rustup']; // the reader's home lies elsewhere; pip asks a rustc for its version
  return (await readdir(folder, { withFileTypes: true }))
    .filter(({ name }) => !OF_THE_TEST.has(name) && !home.includes(name))
    .filter(({ name }) => !name.startsWith('.background-'))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
}

/** `npx` as a short cut to the same programs: npm itself takes half a second each time. */
async function shortCut(folder: string): Promise<void> {
  const text = [
    '#!/bin/sh',
    'program=$1; shift',
    'case $program in',
    '  gridgate) exec node bin/gridgate.mjs "$@" ;;',
    '  *) exec "node_modules/.bin/$program" "$@" ;;',
    'esac\n',
  ].join('\n');
  await mkdir(join(folder, '.short-cut'));
  await writeFile(join(folder, '.short-cut/npx'), text, { mode: 0o755 });
}

class PageShell {
  private readonly outputs = new Map<number, string>();
  private readonly errors: string[] = [];
  private current = 0;
  private rest = '';

  constructor(
    private readonly folder: string,
    private readonly setting: PageSetting,
  ) {}

  async run(blocks: Block[]): Promise<Omit<PageResult, 'left'>> {
    const script = join(this.folder, '.page.sh');
    await writeFile(script, this.scriptOf(blocks));
    const { programs, deadlineMs = DEADLINE_MS } = this.setting;
    const first = [join(this.folder, '.short-cut'), ...(programs === undefined ? [] : [programs])];
    const env = {
      PATH: [...first, process.env['PATH']].join(':'),
      HOME: this.folder,
      npm_config_update_notifier: 'false',
      ...this.setting.env,
    };
    const shell = spawn('bash', [script], { cwd: this.folder, env, detached: true });
    const timer = setTimeout(() => end(shell), deadlineMs);
    shell.stdout.setEncoding('utf8').on('data', (text: string) => this.hear(text, shell));
    shell.stderr.setEncoding('utf8').on('data', (text: string) => this.errors.push(text));
    const [code] = (await once(shell, 'close')) as [number | null];
    clearTimeout(timer);
    const complaint =
      code === 0
        ? undefined
        : `the block in line ${this.current} ended with ${code}:\n${this.outputs.get(this.current) ?? ''}${this.errors.join('').slice(-3000)}`;
    return { outputs: this.outputs, complaint };
  }

  private scriptOf(blocks: Block[]): string {
    const parts = blocks
      .filter(({ mark }) => mark?.kind === 'run')
      .map(({ line, text, mark }) => {
        const [, manner = mark?.words] = /, (\w+)$/.exec(mark?.words ?? '') ?? [];
        const own = text.replace(PAGE_PORT, `localhost:${this.setting.port}`);
        return `echo "@@@ ${line}"\n${wrapped(own, line, manner)}`;
      });
    // job control, so that what runs in the background ends with all its children
    return `set -em\ntrap '${END_OF_PAGE}' EXIT\n${parts.join('\n')}\n`;
  }

  /** Lines of the page's commands; those that begin with @@@ are the script's own. */
  private hear(text: string, shell: ChildProcess): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, block, address] = /^@@@ (\d+)(?: visit (\S+))?$/.exec(line) ?? [];
      if (address !== undefined) void this.visit(address, shell);
      else if (block !== undefined) this.current = Number(block);
      else this.note(`${line}\n`);
    }
  }

  private note(text: string): void {
    const shown = text.replaceAll(`localhost:${this.setting.port}`, 'localhost:8443');
    this.outputs.set(this.current, (this.outputs.get(this.current) ?? '') + shown);
  }

  private async visit(address: string, shell: ChildProcess): Promise<void> {
    try {
      await this.setting.visit?.(address);
      shell.stdin?.write('seen\n');
    } catch (error) {
      this.errors.push(`visiting ${address}: ${String(error)}\n`);
      end(shell);
    }
  }
}

/** A block as part of the script; what goes on is started in the background and waited for. */
function wrapped(text: string, line: number, manner: string | undefined): string {
  const ready = manner === 'start' ? 'gridgate ready on' : 'portal on';
  if (manner !== 'start' && manner !== 'background') return `${text}\necho`;
  const file = `.background-${line}`;
  const started = [
    `{\n${text}\n} > ${file} 2>&1 &`,
    `BACKGROUND=$!`,
    `until grep -q '${ready} ' ${file}; do kill -0 $BACKGROUND || { cat ${file} >&2; exit 1; }; sleep 0.1; done`,
  ];
  if (manner === 'start') return started.join('\n');
  return [
    ...started,
    `echo "@@@ ${line} visit $(sed -n 's/^${ready} //p' ${file})"`,
    'read -r SEEN',
    'kill -- -$BACKGROUND; wait $BACKGROUND || true',
  ].join('\n');
}

function end({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // it has ended by itself
  }
}

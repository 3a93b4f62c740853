import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { JsonObject } from '#src/kernel/index.js';
import { CommandError } from '../../terminal/command-error.js';
import { unreadable } from '../../terminal/reading.js';
import { gridLinesOf } from './grid-lines.js';
import { readOptions, variablesOf } from './job-keys.js';
import { jobOption, type JobWishes } from './job-options.js';

/** What goes to the service as a file. */
export interface TypedFile {
  name: string;
  content: Blob;
}

/** A manifest as it was read, and what belongs to it. */
export interface ReadManifest {
  manifest: JsonObject;
  /** Where names of its files are looked for. */
  folder: string;
  /** What a script says of its job. */
  wishes: JobWishes;
  /** Its lines are pushed on while it is made. */
  warnings: string[];
  /** Files that go along, by their paths here. */
  files: string[];
  /** Arguments of a program that was given with them, and words of a script: files here may be among them. */
  words?: string[];
  /** A script that came by standard input. */
  typed?: TypedFile;
}

const HEAD_BYTES = 64 * 1024;
const ELF = '\u007fELF';
const MAX_NAME = 128;
/** So many words of a script are looked at: each may be a file here. */
const MOST_WORDS = 2000;
/** What a script that came by standard input is called in its job. */
const TYPED_NAME = 'stdin.sh';

/** True for a file here that is a script or program, and no manifest. */
export function isProgramFile(path: string): boolean {
  if (!isFile(path)) return false;
  const head = Buffer.alloc(HEAD_BYTES);
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return isProgramText(head.toString('utf8', 0, readSync(file, head)), path);
  } catch {
    return false; // whoever reads it says why it cannot be read
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** True for what begins as a script or program does, or does not begin as a manifest. */
export function isProgramText(text: string, name = ''): boolean {
  if (text.startsWith('#!') || text.startsWith(ELF)) return true;
  return !/\.(?:json|ya?ml)$/.test(name) && /^\s*[^\s{[]/.test(text);
}

/** True for a plain file. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The manifest of a script or program here with its arguments. Throws CommandError with everything that it says wrongly. */
export async function programFrom(path: string, words: string[]): Promise<ReadManifest> {
  const [name, folder] = [basename(path), dirname(path)];
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const said = saidBy(text, name);
  if (path.startsWith('/') && text.startsWith(ELF)) {
    said.warnings.push(`${path} of this machine goes along: --exec ${path} runs that of the site`);
  }
  const files = [path, ...(said.wishes.files ?? []).map((file) => resolve(folder, file))];
  return {
    manifest: manifestOf(name, words),
    folder,
    ...said,
    words: [...words, ...said.words],
    files,
  };
}

/** The manifest of a script that came by standard input. Throws CommandError. */
export function programTyped(text: string, words: string[]): ReadManifest {
  const typed = { name: TYPED_NAME, content: new Blob([text]) };
  const said = saidBy(text, 'standard input');
  const manifest = manifestOf(TYPED_NAME, words);
  const files = said.wishes.files ?? [];
  return { manifest, folder: '.', ...said, words: [...words, ...said.words], files, typed };
}

function manifestOf(name: string, words: string[]): JsonObject {
  const whole = { Executable: name, JobName: name.slice(0, MAX_NAME) };
  return words.length > 0 ? { ...whole, Arguments: words } : whole;
}

/** What a script says of its job. Throws CommandError. */
function saidBy(
  text: string,
  name: string,
): Pick<Required<ReadManifest>, 'wishes' | 'warnings' | 'words'> {
  if (text.startsWith(ELF)) return { wishes: {}, warnings: [], words: [] };
  const lines = gridLinesOf(text, (option) => jobOption(option)?.isFlag === true);
  const { wishes, faults, warnings } = readOptions(
    lines.options,
    ({ line }) => `${name} line ${line}: `,
  );
  const all = [...lines.faults.map((fault) => `${name} ${fault}`), ...faults];
  if (all.length > 0) throw new CommandError(all.join('\n'), 2);
  if (!text.startsWith('#!')) warnings.push(`${name} does not begin with #!: /bin/sh runs it`);
  const code = text.split('\n').map((line) => (line.trimStart().startsWith('#') ? '' : line));
  const others = [...lines.warnings, ...slurmWords(code, variablesOf(wishes))];
  warnings.push(...others.map((warning) => `${name} ${warning}`));
  const words = [...new Set(code.join('\n').match(/[\w.+@][\w.+@/-]*/g))].slice(0, MOST_WORDS);
  return { wishes, warnings, words };
}

/** What a script uses of Slurm, or of modules, and a job of another site does not have; each once. */
function slurmWords(code: string[], variables: Readonly<Record<string, string>>): string[] {
  const found = new Map<string, string>();
  for (const [index, line] of code.entries()) {
    const words = line.trim();
    const [, program] = PROGRAM.exec(words) ?? [];
    const [, module] = MODULE.exec(words) ?? [];
    const named = [...words.matchAll(/\bSLURM_[A-Z_]+/g)].map(([name]) => name);
    for (const word of [program ?? [], module ?? [], named].flat()) {
      if (found.has(word) || Object.hasOwn(variables, word)) continue;
      found.set(word, `line ${index + 1}: ${remarkOf(word)}`);
    }
  }
  return [...found.values()];
}

const PROGRAM = /^(srun|sbatch|salloc|sbcast|scontrol|squeue|sacct)\b/;
const MODULE = /^(module(?=\s+[a-z])|ml(?=\s+[\w.+/-]+(?:\s|$)))/;

function remarkOf(word: string): string {
  const instead = INSTEAD[word];
  if (word.startsWith('m')) {
    return `${word} is there only where the site has it: --tag or --site names such a site, --file sends what the script needs`;
  }
  const of = word.startsWith('SLURM_')
    ? `the script uses ${word}, which only a site with Slurm sets`
    : `${word} is there only where the site has Slurm`;
  return instead === undefined ? of : `${of}: ${instead}`;
}

const PROCESSORS = 'write $GRIDGATE_PROCESSORS, which each site sets';
const INSTEAD: Record<string, string> = {
  srun: 'call the program itself',
  SLURM_JOB_ID: 'write $JOBID, which each site sets',
  SLURM_JOBID: 'write $JOBID, which each site sets',
  SLURM_SUBMIT_DIR: 'a job begins in a directory of its own, $HOME',
  SLURM_CPUS_PER_TASK: PROCESSORS,
  SLURM_CPUS_ON_NODE: PROCESSORS,
  SLURM_ARRAY_TASK_ID: 'jobs of --array have it at each site',
};

import { readFileSync } from 'node:fs';

/** What a comment before a block says about it: `run: demo`, `file: job.json`, `output`, `output: exact`, `not run: reason`. */
export interface Mark {
  kind: 'run' | 'file' | 'output' | 'not run';
  words: string;
}

/** A fenced block of a page. */
export interface Block {
  page: string;
  /** Line of its fence, from 1. */
  line: number;
  language: string;
  text: string;
  mark: Mark | undefined;
}

/** Languages of what a reader is to execute. */
const EXECUTABLE = new Set(['sh', 'bash', 'console', 'js', 'ts', 'python']);
const MARK = /^\s*<!-- (run|file|output|not run)(?:: (.+))? -->\s*$/;
const FENCE = /^(\s*)(`{3,})(\w*)\s*$/;

/** The fenced blocks of a page in their order. */
export function blocksOf(page: string): Block[] {
  const lines = readFileSync(page, 'utf8').split('\n');
  const blocks: Block[] = [];
  for (let place = 0; place < lines.length; place += 1) {
    const [, indent = '', fence = '', language = ''] = FENCE.exec(lines[place] ?? '') ?? [];
    if (fence === '') continue;
    const end = lines.findIndex((text, index) => index > place && text.trim() === fence);
    const text = lines
      .slice(place + 1, end)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
      .join('\n');
    blocks.push({ page, line: place + 1, language, text, mark: markBefore(lines, place) });
    place = end;
  }
  return blocks;
}

function markBefore(lines: string[], place: number): Mark | undefined {
  const before = lines.slice(0, place).findLast((line) => line.trim() !== '');
  const [, kind, words = ''] = MARK.exec(before ?? '') ?? [];
  return kind === undefined ? undefined : { kind: kind as Mark['kind'], words };
}

/** Blocks that nobody runs though a reader would, and marks that mean nothing; each with its place. */
export function faultsOf(blocks: Block[]): string[] {
  return blocks.flatMap(({ page, line, language, mark }, index) => {
    const say = (text: string): string[] => [`${page}:${line} ${text}`];
    if (mark === undefined) return EXECUTABLE.has(language) ? say('has no mark') : [];
    if (mark.kind === 'not run' && mark.words === '') return say('is not run without a reason');
    if (mark.kind === 'file' && mark.words === '') return say('is a file without a name');
    if (mark.kind === 'run' && language !== 'sh') return say(`is ${language}, but a shell runs it`);
    if (mark.kind !== 'output') return [];
    const before = blocks[index - 1]?.mark?.kind;
    return before === 'run' ? [] : say('is the output of no block');
  });
}

/**
 * True when the text is what the page shows. Blanks count as one, empty lines do not count. `…` stands for anything in
 * a line, a line of only `…` for any lines; a number stands for any number unless the page says that it is exact.
 */
export function isShown(shown: string, text: string, exact: boolean): boolean {
  const pattern = tidy(shown)
    .split('\n')
    .map((line) => (line === '…' ? '[\\s\\S]*' : linePattern(line, exact)))
    .join('\n');
  return new RegExp(`^${pattern}$`).test(tidy(text));
}

function linePattern(line: string, exact: boolean): string {
  const escaped = line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*');
  return exact ? escaped : escaped.replace(/\d+/g, '\\d+');
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { sources, SRC } from './source-tree.js';

/**
 * A ratchet. The file has what each module of `src` weighs (lines and files, without specs and generated code) and what its entry
 * point exports. A commit that raises a number says why in the same row; `GRID_WRITE_PAGES=true` lowers the others.
 */
const FILE = 'test/architecture/weight.json';

interface Weight {
  lines: number;
  files: number;
  exports: number;
  /** Why a number was raised last. */
  why?: string;
}

type Weights = Record<string, Weight>;

const NUMBERS = ['lines', 'files', 'exports'] as const;

function weigh(): Weights {
  const weights: Weights = {};
  for (const file of sources(SRC)) {
    const path = relative(SRC, file);
    if (path.includes('generated/')) continue;
    const [module = ''] = path.includes('/') ? path.split('/') : ['(top)'];
    const weight = (weights[module] ??= { lines: 0, files: 0, exports: 0 });
    const text = readFileSync(file, 'utf8');
    weight.lines += text.split('\n').length - 1;
    weight.files += 1;
    if (path === `${module}/index.ts`) weight.exports = exportsOf(text);
  }
  return weights;
}

function exportsOf(index: string): number {
  const lists = [...index.matchAll(/export (?:type )?\{([^}]*)\}/g)].map(([, names = '']) => names);
  return lists.flatMap((names) => names.split(',')).filter((name) => name.trim() !== '').length;
}

function stored(text: string): Weights {
  return JSON.parse(text) as Weights;
}

/** The file as the commit before has it; undefined where nobody can tell, and for a merge. */
function before(): Weights | undefined {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    if (git('rev-list', '--parents', '-n', '1', 'HEAD').trim().split(' ').length !== 2)
      return undefined;
    return stored(git('show', `HEAD~1:${FILE}`));
  } catch {
    return undefined;
  }
}

function raised(
  from: Weights,
  to: Weights,
): { module: string; why: string | undefined; was: string | undefined }[] {
  return Object.entries(to).flatMap(([module, weight]) => {
    const old = from[module];
    const isRaised = NUMBERS.some((key) => weight[key] > (old?.[key] ?? 0));
    return isRaised ? [{ module, why: weight.why, was: old?.why }] : [];
  });
}

describe('the weight of the sources', () => {
  const now = weigh();
  if (process.env['GRID_WRITE_PAGES'] === 'true') {
    const old = existsSync(FILE) ? stored(readFileSync(FILE, 'utf8')) : {};
    const kept = Object.entries(now).map(([module, weight]) => {
      const why = old[module]?.why;
      return [module, { ...weight, ...(why !== undefined && { why }) }];
    });
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(kept.sort()), null, 2)}\n`);
  }
  const weights = stored(readFileSync(FILE, 'utf8'));

  it('is not more than the ratchet has: raise its number and say why in its row', () => {
    const heavier = Object.entries(now).flatMap(([module, weight]) =>
      NUMBERS.filter((key) => weight[key] > (weights[module]?.[key] ?? 0)).map(
        (key) => `${module}: ${weight[key]} ${key}, not ${weights[module]?.[key] ?? 0}`,
      ),
    );
    expect(heavier).toEqual([]);
  });

  it('is raised with a reason', () => {
    const old = before();
    const silent =
      old && raised(old, weights).filter(({ why, was }) => why === undefined || why === was);
    expect(silent ?? []).toEqual([]);
  });

  it('leaves no module with more than a hundred exports', () => {
    const wide = Object.entries(now).filter(([, { exports }]) => exports > 100);
    expect(wide.map(([module]) => module)).toEqual([]);
  });
});

describe('the pages', () => {
  it('of design are one for a module, at most 20, of at most 90 lines', () => {
    const pages = readdirSync('docs/design');
    const long = pages.filter(
      (name) => readFileSync(join('docs/design', name), 'utf8').split('\n').length > 91,
    );
    expect([pages.length <= 20, long]).toEqual([true, []]);
  });
});

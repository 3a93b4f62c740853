import { matchesPattern } from './name-pattern.js';
import type { RunPlan } from './run-plan.js';

/**
 * The file that a name asks for: one that the job gives back, its standard output or its standard error, which are
 * `std.out` and `std.err` whatever the manifest calls them. Undefined for any other: what a job keeps to itself while it
 * runs is nobody's to read.
 */
export function outputName(plan: RunPlan, name: string): string | undefined {
  if (name === plan.stdout || name === plan.stderr) return name;
  if (plan.outputs.some((pattern) => isGivenBack(pattern, name))) return name;
  if (name === 'std.out') return plan.stdout;
  return name === 'std.err' ? plan.stderr : undefined;
}

/** A pattern or name stands for files, and for directories with everything below them. */
function isGivenBack(pattern: string, name: string): boolean {
  const plain = plainPattern(pattern);
  if (plain === '') return name !== '';
  const wanted = plain.split('/');
  const parts = name.split('/');
  return (
    parts.length >= wanted.length &&
    wanted.every((part, index) =>
      /[*?]/.test(pattern) ? matchesPattern(parts[index] ?? '', part) : parts[index] === part,
    )
  );
}

/** A name or pattern of a manifest without what makes no difference to it; nothing is left of `.`, the whole directory. */
export function plainPattern(pattern: string): string {
  const parts = pattern.split('/');
  return parts.filter((part) => part !== '' && part !== '.').join('/');
}

import { namesBelow } from '../path/catalogue-path.js';
import type { Totals } from '../totals/exact-totals.js';

/**
 * Text of the answer tree `{"f", "s", "d"}` while directories come in depth-first order. The start directory always
 * has f and s, a matching one has them, one that only leads to a match has `d` alone.
 */
export class SearchTree {
  private readonly open: string[] = [];
  /** Per open level, the start first: has it `d` already, and has it any member? */
  private readonly levels: { children: boolean; members: boolean }[] = [];
  private started = false;

  constructor(private readonly start: string) {}

  /** The next matching directory. */
  add(path: string, totals: Totals): string {
    const names = namesBelow(this.start, path);
    if (names.length === 0) return this.begin(totals);
    let text = this.begin({ files: 0, bytes: 0n });
    let common = 0;
    while (common < this.open.length && this.open[common] === names[common]) common += 1;
    while (this.open.length > common) text += this.close();
    for (const name of names.slice(common, -1)) text += this.child(name);
    return text + this.child(names.at(-1) ?? '', totals);
  }

  /** The end of the answer. */
  finish(): string {
    let text = this.begin({ files: 0, bytes: 0n });
    while (this.open.length > 0) text += this.close();
    return text + (this.levels[0]?.children ? '}}' : '}');
  }

  private begin(totals: Totals): string {
    if (this.started) return '';
    this.started = true;
    this.levels.push({ children: false, members: true });
    return `{${members(totals)}`;
  }

  private child(name: string, totals?: Totals): string {
    const parent = this.levels.at(-1) as { children: boolean; members: boolean };
    const before = parent.children ? ',' : parent.members ? ',"d":{' : '"d":{';
    parent.children = true;
    parent.members = true;
    this.open.push(name);
    this.levels.push({ children: false, members: totals !== undefined });
    return `${before}${JSON.stringify(name)}:{${totals ? members(totals) : ''}`;
  }

  private close(): string {
    this.open.pop();
    return this.levels.pop()?.children ? '}}' : '}';
  }
}

function members({ files, bytes }: Totals): string {
  return `"f":${files},"s":${bytes}`;
}

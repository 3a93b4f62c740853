import type { CharacterTest } from './python-characters.js';
import { widthOf, type PatternNode } from './python-pattern-nodes.js';
import type { ParsedPattern } from './python-pattern-parser.js';

/** One step of a program; what names a step names its position. */
type Step =
  | { op: 'set'; test: CharacterTest }
  | { op: 'assert'; test: (text: readonly number[], at: number) => boolean }
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { op: 'save'; slot: number }
  /** Ends an iteration: an empty one is the last. */
  | { op: 'again'; slot: number; loop: number }
  | { op: 'reference'; group: number; fold: ((point: number) => number) | undefined }
  | { op: 'condition'; group: number; no: number }
  | { op: 'look'; isNegated: boolean; behind: number | undefined; next: number }
  | { op: 'match' };

/** Steps that matching may still take, shared by everything that one call matches. */
export interface StepBudget {
  left: number;
}

/** A point to return to when the way on leads nowhere. */
interface Choice {
  step: number;
  at: number;
  slots: number[];
}

/** Steps, and whether step and place alone decide where one leads. */
interface Program {
  steps: readonly Step[];
  isPure: boolean;
}

/** Where groups and iterations began and ended; -1 for nowhere. */
type Slots = number[];

const LARGEST_PROGRAM = 4000;
const NOWHERE = -1;

/**
 * A pattern as steps that are tried in order (the way Python's `re` prefers matches). A step at a place of the text that led
 * nowhere once is never tried there again: the work is at most the steps times the length of the text. Patterns with
 * references back, or with repetitions of what may be empty, are bounded by the budget alone.
 */
export class PatternProgram {
  private readonly steps: Step[] = [];
  private isImpure = false;
  private slots: number;

  /** Throws SyntaxError for a pattern that is too large. */
  constructor(pattern: ParsedPattern) {
    this.slots = 2 * (pattern.groups + 1);
    this.add(pattern.body);
    this.push({ op: 'match' });
  }

  /**
   * Matches at the start of the text: begin and end of each group by number (-1 for one that took no part), or undefined,
   * also when the budget is used up.
   */
  match(text: readonly number[], budget: StepBudget): readonly number[] | undefined {
    const { steps, isImpure } = this;
    const attempt = new Attempt({ steps, isPure: !isImpure }, text, budget);
    return attempt.run(0, 0, new Array<number>(this.slots).fill(NOWHERE));
  }

  private push(step: Step): number {
    if (this.steps.length >= LARGEST_PROGRAM) throw new SyntaxError('the pattern is too large');
    return this.steps.push(step) - 1;
  }

  private add(node: PatternNode): void {
    switch (node.kind) {
      case 'set':
        this.push({ op: 'set', test: node.test });
        return;
      case 'assert':
        this.push({ op: 'assert', test: node.test });
        return;
      case 'sequence':
        for (const item of node.items) this.add(item);
        return;
      case 'choice':
        this.addChoice(node.options);
        return;
      case 'group':
        this.push({ op: 'save', slot: 2 * node.group });
        this.add(node.body);
        this.push({ op: 'save', slot: 2 * node.group + 1 });
        return;
      case 'reference':
        this.isImpure = true;
        this.push({ op: 'reference', group: node.group, fold: node.fold });
        return;
      case 'condition':
        this.addCondition(node);
        return;
      case 'look':
        this.addLook(node);
        return;
      case 'repeat':
        this.addRepeat(node);
    }
  }

  private addChoice(options: readonly PatternNode[]): void {
    const jumps: { op: 'jump'; to: number }[] = [];
    options.forEach((option, index) => {
      const isLast = index === options.length - 1;
      const split = { op: 'split' as const, first: this.steps.length + 1, second: 0 };
      if (!isLast) this.push(split);
      this.add(option);
      if (isLast) return;
      const jump = { op: 'jump' as const, to: 0 };
      jumps.push(jump);
      this.push(jump);
      split.second = this.steps.length;
    });
    for (const jump of jumps) jump.to = this.steps.length;
  }

  private addCondition(node: Extract<PatternNode, { kind: 'condition' }>): void {
    this.isImpure = true;
    const condition = { op: 'condition' as const, group: node.group, no: 0 };
    this.push(condition);
    this.add(node.yes);
    const jump = { op: 'jump' as const, to: 0 };
    this.push(jump);
    condition.no = this.steps.length;
    this.add(node.no);
    jump.to = this.steps.length;
  }

  private addLook(node: Extract<PatternNode, { kind: 'look' }>): void {
    const { isNegated, behind } = node;
    const look = { op: 'look' as const, isNegated, behind, next: 0 };
    this.push(look);
    this.add(node.body);
    this.push({ op: 'match' });
    look.next = this.steps.length;
  }

  private addRepeat(node: Extract<PatternNode, { kind: 'repeat' }>): void {
    const { body, min, max, lazy } = node;
    for (let count = 0; count < min; count += 1) this.add(body);
    const ways: { op: 'split'; first: number; second: number }[] = [];
    const enter = (): number => {
      const way = { op: 'split' as const, first: 0, second: 0 };
      const step = this.push(way);
      way[lazy ? 'second' : 'first'] = step + 1;
      ways.push(way);
      return step;
    };
    if (max === Infinity) {
      // whether an iteration was empty decides how it goes on: the place in the text does not tell all
      if (widthOf(body, Infinity)[0] === 0) this.isImpure = true;
      const loop = enter();
      const slot = this.slots;
      this.slots += 1;
      this.push({ op: 'save', slot });
      this.add(body);
      this.push({ op: 'again', slot, loop });
    } else {
      for (let count = min; count < max; count += 1) {
        enter();
        this.add(body);
      }
    }
    for (const way of ways) way[lazy ? 'first' : 'second'] = this.steps.length;
  }
}

/** One attempt to get through a program, and where it stands. */
class Attempt {
  private step = 0;
  private at = 0;
  private slots: Slots = [];
  /** Places of the text that a step has been tried at; absent where groups decide what matches. */
  private seen: Uint8Array | undefined;
  private readonly width: number;

  constructor(
    private readonly program: Program,
    private readonly text: readonly number[],
    private readonly budget: StepBudget,
  ) {
    this.width = text.length + 1;
  }

  /** Where groups begin and end once the program has matched from here; undefined when it does not. */
  run(step: number, at: number, slots: Slots): Slots | undefined {
    const { program, budget, width } = this;
    if (program.isPure) this.seen = new Uint8Array((program.steps.length * width + 7) >> 3);
    budget.left -= (this.seen?.length ?? 0) >> 6;
    const choices: Choice[] = [{ step, at, slots }];
    for (let choice = choices.pop(); choice !== undefined; choice = choices.pop()) {
      ({ step: this.step, at: this.at, slots: this.slots } = choice);
      do {
        if (budget.left <= 0) return undefined;
        budget.left -= 1;
        if (this.markVisited()) break;
        const current = program.steps[this.step] as Step;
        if (current.op === 'match') return this.slots;
        if (current.op !== 'split') continue;
        choices.push({ step: current.second, at: this.at, slots: this.slots });
      } while (this.advance(program.steps[this.step] as Step));
    }
    return undefined;
  }

  /** Whether the step was tried at this place before; from now on it was. */
  private markVisited(): boolean {
    if (this.seen === undefined) return false;
    const place = this.step * this.width + this.at;
    const bit = 1 << (place & 7);
    const known = this.seen[place >> 3] ?? 0;
    this.seen[place >> 3] = known | bit;
    return (known & bit) !== 0;
  }

  /** Goes on to the next step; false when it leads nowhere. */
  private advance(current: Step): boolean {
    switch (current.op) {
      case 'set': {
        const point = this.text[this.at];
        this.step += 1;
        this.at += 1;
        return point !== undefined && current.test(point);
      }
      case 'assert':
        this.step += 1;
        return current.test(this.text, this.at);
      case 'save':
        this.slots = this.slots.with(current.slot, this.at);
        this.step += 1;
        return true;
      case 'split':
        this.step = current.first;
        return true;
      case 'jump':
        this.step = current.to;
        return true;
      case 'again':
        this.step = this.slots[current.slot] === this.at ? this.step + 1 : current.loop;
        return true;
      case 'condition':
        this.step = this.isSet(current.group) ? this.step + 1 : current.no;
        return true;
      case 'reference':
        this.step += 1;
        return this.repeats(current.group, current.fold);
      case 'look':
        return this.look(current);
      case 'match':
        return false;
    }
  }

  private look({ isNegated, behind = 0, next }: Extract<Step, { op: 'look' }>): boolean {
    const from = this.at - behind;
    const inner = new Attempt(this.program, this.text, this.budget);
    const found = from < 0 ? undefined : inner.run(this.step + 1, from, this.slots);
    this.step = next;
    this.slots = found ?? this.slots;
    return (found === undefined) === isNegated;
  }

  private isSet(group: number): boolean {
    return this.slots[2 * group + 1] !== NOWHERE;
  }

  /** Goes past what the group holds; false when it took no part or the text is another. */
  private repeats(group: number, fold = (point: number): number => point): boolean {
    if (!this.isSet(group)) return false;
    const [from, to] = [this.slots[2 * group] as number, this.slots[2 * group + 1] as number];
    const { text, at } = this;
    if (at + to - from > text.length) return false;
    for (let index = from; index < to; index += 1) {
      if (fold(text[index] as number) !== fold(text[at + index - from] as number)) return false;
    }
    this.at += to - from;
    return true;
  }
}

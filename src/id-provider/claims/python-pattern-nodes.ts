import type { CharacterTest } from './python-characters.js';

/** A part of a pattern. */
export type PatternNode =
  | { kind: 'set'; test: CharacterTest }
  | { kind: 'assert'; test: (text: readonly number[], at: number) => boolean }
  | { kind: 'sequence'; items: PatternNode[] }
  | { kind: 'choice'; options: PatternNode[] }
  | { kind: 'group'; group: number; body: PatternNode }
  | { kind: 'repeat'; body: PatternNode; min: number; max: number; lazy: boolean }
  | {
      kind: 'reference';
      group: number;
      /** What the group holds, for its width. */
      body: PatternNode;
      fold: ((point: number) => number) | undefined;
    }
  | { kind: 'condition'; group: number; yes: PatternNode; no: PatternNode }
  /** `behind` is how far back a look-behind starts; undefined looks ahead. */
  | { kind: 'look'; body: PatternNode; isNegated: boolean; behind: number | undefined };

type Width = [least: number, most: number];

/**
 * How many characters a part takes. Throws SyntaxError where it refers to a group beyond the first `known` ones: a
 * look-behind must not refer to a group of its own.
 */
export function widthOf(node: PatternNode, known: number): Width {
  switch (node.kind) {
    case 'set':
      return [1, 1];
    case 'assert':
    case 'look':
      return [0, 0];
    case 'group':
      return widthOf(node.body, known);
    case 'sequence':
      return node.items
        .map((item) => widthOf(item, known))
        .reduce<Width>(([least, most], [low, high]) => [least + low, most + high], [0, 0]);
    case 'choice':
      return widest(node.options.map((option) => widthOf(option, known)));
    case 'condition':
      refuseOwn(node.group, known);
      return widest([widthOf(node.yes, known), widthOf(node.no, known)]);
    case 'reference':
      refuseOwn(node.group, known);
      return widthOf(node.body, known);
    case 'repeat': {
      const [least, most] = widthOf(node.body, known);
      return [least * node.min, most === 0 ? 0 : most * node.max];
    }
  }
}

function widest(widths: readonly Width[]): Width {
  return [Math.min(...widths.map(([low]) => low)), Math.max(...widths.map(([, high]) => high))];
}

function refuseOwn(group: number, known: number): void {
  if (group > known) throw new SyntaxError('a look-behind refers to a group of its own');
}

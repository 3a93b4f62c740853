import type { ManifestRequest } from 'gridgate/client';
import { h } from '../../parts/dom.js';
import { linesField, textField, type Field } from '../../parts/field.js';
import { listOf } from '../../parts/words.js';
import type { DraftContent, Given } from '../submit-draft.js';

/** How values of a key of manifests are written in a field. */
interface Kind {
  /** Undefined: they cannot be. */
  textOf: (value: unknown) => string | undefined;
  /** What is wrong with it the service says. */
  valueOf: (text: string) => unknown;
}

const NUMBER: Kind = {
  textOf: (value) => {
    if (typeof value === 'number' || typeof value === 'bigint') return String(value);
    return typeof value === 'string' && /^\s*-?\d+\s*$/.test(value) ? value.trim() : undefined;
  },
  valueOf: (text) => (/^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text.trim()),
};
const WORDS: Kind = {
  textOf: (value) => {
    const words = textsOf(value);
    return words?.some((word) => listOf(word).join() !== word) ? undefined : words?.join(' ');
  },
  valueOf: listOf,
};
const VARIABLES: Kind = {
  textOf: (value) => {
    const lines = textsOf(value) ?? variablesOf(value);
    return lines?.some((line) => !/^\w+=[^\r\n]*$/.test(line)) ? undefined : lines?.join('\n');
  },
  valueOf: (text) =>
    text
      .split('\n')
      .map((line) => line.trimStart())
      .filter((line) => line !== ''),
};

/** The keys that have a field here. */
const KEYS: { key: string; kind: Kind; make: () => Field }[] = [
  {
    key: 'NumberOfProcessors',
    kind: NUMBER,
    make: () => number('processors', 'Processors', '1', 'How many it gets; empty: one'),
  },
  {
    key: 'GPUs',
    kind: NUMBER,
    make: () => number('gpus', 'GPUs', '0', 'How many it gets; empty: none'),
  },
  {
    key: 'MinRAM',
    kind: NUMBER,
    make: () => number('memory', 'Memory to start (MB)', '2000', 'It waits until so much is free'),
  },
  {
    key: 'MaxRAM',
    kind: NUMBER,
    make: () => number('most-memory', 'Memory at most (MB)', '4000', 'With more it is ended'),
  },
  {
    key: 'WallTime',
    kind: NUMBER,
    make: () =>
      number('wall-time', 'Wall time at most (s)', '3600', 'It is ended when it runs longer'),
  },
  {
    key: 'Tags',
    kind: WORDS,
    make: () =>
      textField('tags', 'Tags', 'el9', {
        hint: 'What the site must have, separated by blanks',
      }),
  },
  {
    key: 'ExecutionEnvironment',
    kind: VARIABLES,
    make: () =>
      linesField(
        ...(['environment', 'Environment', 'OMP_NUM_THREADS=4'] as const),
        'Variables of the program, one a line, without quotation marks',
      ),
  },
];

/** What a job needs and is seldom asked for, folded away as long as nothing of it is given. */
export class Resources {
  readonly fields: readonly Field[];
  /** Where a fault of a key is shown. */
  readonly places: Record<string, Pick<Field, 'label' | 'mark'>>;
  readonly element: HTMLDetailsElement;
  private readonly rows = KEYS.map(({ key, kind, make }) => ({ key, kind, field: make() }));

  constructor() {
    this.fields = this.rows.map(({ field }) => field);
    const element = (field: Field): HTMLElement => field.element;
    const numbers = this.rows.filter(({ kind }) => kind === NUMBER).map(({ field }) => field);
    const others = this.fields.filter((field) => !numbers.includes(field));
    this.element = h(
      'details',
      { class: 'resources' },
      h('summary', {}, 'Resources and environment'),
      h('div', { class: 'numbers' }, numbers.map(element)),
      others.map(element),
    );
    this.places = Object.fromEntries(
      this.rows.map(({ key, field }) => [
        key,
        { label: field.label, mark: (problem) => this.mark(field, problem) },
      ]),
    );
  }

  /** Opens it when a field has something, and closes it otherwise. */
  fold(): void {
    this.element.open = this.fields.some(({ input }) => input.value.trim() !== '');
  }

  /** What is asked for; `given` are the values of the job that the form was filled with. */
  manifest(given: DraftContent['given']): Partial<ManifestRequest> {
    const members = this.rows.flatMap(({ key, kind, field: { input } }): [string, unknown][] => {
      const before = given[input.id];
      if (before !== undefined && before.text === input.value) return [[key, before.value]];
      return input.value.trim() === '' ? [] : [[key, kind.valueOf(input.value)]];
    });
    return Object.fromEntries(members);
  }

  /** Of a manifest what the fields can show, and what is left of it. */
  take(manifest: Partial<ManifestRequest>): Pick<DraftContent, 'given' | 'rest'> {
    const rest: Record<string, unknown> = { ...manifest };
    const given: Record<string, Given> = {};
    for (const { key, kind, field } of this.rows) {
      const value = rest[key];
      const text = kind.textOf(value);
      if (text === undefined) continue;
      given[field.input.id] = { text, value };
      delete rest[key];
    }
    return { given, rest: rest };
  }

  private mark(field: Field, problem: string | undefined): void {
    if (problem !== undefined) this.element.open = true;
    field.mark(problem);
  }
}

function number(id: string, label: string, placeholder: string, hint: string): Field {
  const field = textField(id, label, placeholder, { hint });
  field.input.inputMode = 'numeric';
  return field;
}

/** A text or a list of texts as a list. */
function textsOf(value: unknown): string[] | undefined {
  if (typeof value === 'string') return [value];
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isList ? value : undefined;
}

/** Variables of an object as lines. */
function variablesOf(value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const pairs = Object.entries(value);
  if (pairs.some(([, item]) => typeof item === 'object')) return undefined;
  return pairs.map(([name, item]) => `${name}=${String(item)}`);
}

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
const TEXT: Kind = {
  textOf: (value) => (typeof value === 'string' ? value : undefined),
  valueOf: (text) => text.trim(),
};
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
/** One a line, for paths may have blanks. */
const LINES: Kind = {
  textOf: (value) => {
    const lines = textsOf(value);
    return lines?.some((line) => /[\r\n]/.test(line)) ? undefined : lines?.join('\n');
  },
  valueOf: linesOf,
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

const RESOURCES = 'Resources and environment';
const DATA = 'Files of the catalogue';

/** The keys that have a field here, by the part of the form where it is. */
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
const DATA_KEYS: typeof KEYS = [
  {
    key: 'InputData',
    kind: LINES,
    make: () =>
      linesField(
        ...(['input-data', 'Files to read', '/vo/data/run1/f1'] as const),
        'Paths of the catalogue, one a line; they are in the directory of the job when it starts, where a storage has them',
      ),
  },
  {
    key: 'OutputData',
    kind: LINES,
    make: () =>
      linesField(
        ...(['output-data', 'Files to store', 'hits*.root'] as const),
        'Names and patterns, one a line; stored and registered when the program has ended well',
      ),
  },
  {
    key: 'OutputPath',
    kind: TEXT,
    make: () =>
      textField('output-path', 'Directory to store them in', '/vo/user/a/alice/%j', {
        hint: '%j is the number of the job; empty: one of your own',
      }),
  },
];

/** A part of the form for what is seldom given, folded away as long as nothing of it is. */
class Part {
  readonly fields: readonly Field[];
  readonly places: Record<string, Pick<Field, 'label' | 'mark'>>;
  readonly element: HTMLDetailsElement;
  readonly rows;

  constructor(title: string, keys: typeof KEYS) {
    this.rows = keys.map(({ key, kind, make }) => ({ key, kind, field: make() }));
    this.fields = this.rows.map(({ field }) => field);
    const element = (field: Field): HTMLElement => field.element;
    const numbers = this.rows.filter(({ kind }) => kind === NUMBER).map(({ field }) => field);
    const others = this.fields.filter((field) => !numbers.includes(field));
    this.element = h(
      'details',
      { class: 'resources' },
      h('summary', {}, title),
      numbers.length > 0 && h('div', { class: 'numbers' }, numbers.map(element)),
      others.map(element),
    );
    this.places = Object.fromEntries(
      this.rows.map(({ key, field }) => [
        key,
        { label: field.label, mark: (problem) => this.mark(field, problem) },
      ]),
    );
  }

  fold(): void {
    this.element.open = this.fields.some(({ input }) => input.value.trim() !== '');
  }

  private mark(field: Field, problem: string | undefined): void {
    if (problem !== undefined) this.element.open = true;
    field.mark(problem);
  }
}

/** What a job needs and is seldom asked for. */
export class Resources {
  private readonly parts: readonly Part[];
  private readonly rows;
  readonly fields: readonly Field[];
  /** Where a fault of a key is shown. */
  readonly places: Part['places'];
  readonly elements: HTMLElement[];

  /** `without` names keys that have no field, as they are given otherwise. */
  constructor(without: readonly string[] = []) {
    const wanted = (keys: typeof KEYS): typeof KEYS =>
      keys.filter(({ key }) => !without.includes(key));
    this.parts = [new Part(RESOURCES, wanted(KEYS)), new Part(DATA, wanted(DATA_KEYS))];
    this.rows = this.parts.flatMap(({ rows }) => rows);
    this.fields = this.parts.flatMap(({ fields }) => fields);
    this.elements = this.parts.map(({ element }) => element);
    this.places = Object.fromEntries(this.parts.flatMap(({ places }) => Object.entries(places)));
  }

  /** Opens each part of which a field has something, and closes the others. */
  fold(): void {
    for (const part of this.parts) part.fold();
  }

  /** Adds a file of the catalogue. */
  read(path: string): void {
    const field = this.rows.find(({ key }) => key === 'InputData')?.field;
    const lines = linesOf(field?.input.value ?? '');
    if (!field || lines.includes(path)) return;
    field.input.value = [...lines, path].join('\n');
    this.fold();
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
    return { given, rest };
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

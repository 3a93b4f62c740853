import { Command, Option } from 'commander';
import { printing, print, type Printing, type Shown } from './output-format.js';

/** An argument as commander writes it (`<jid...>`), what it is, and its default or how a word of it is read. */
export type ArgumentRow = readonly [flags: string, text: string, more?: string | Reader];
/** An option likewise. */
export type OptionRow = readonly [flags: string, text: string, more?: OptionMore];
/** Reads a word. Throws CommandError. */
type Reader = (word: string) => unknown;

interface OptionMore {
  /** Every value that is given; none is an empty list. */
  repeated?: true;
  required?: true;
  default?: string | number | undefined;
  choices?: readonly string[];
  parse?: Reader;
  conflicts?: string;
  /** The help does not show it. */
  hidden?: boolean;
}

type Camel<S extends string> = S extends `${infer A}-${infer B}`
  ? `${A}${Capitalize<Camel<B>>}`
  : S;
type KeyOf<F extends string> = F extends `${string}--${infer Long}`
  ? Long extends `${infer Name} ${string}`
    ? Camel<Name>
    : Camel<Long>
  : never;
type Text<F extends string> = F extends `${string}...${string}`
  ? string[]
  : F extends `${string}<${string}`
    ? string
    : true;
type ValueOf<F extends string, M> = M extends { repeated: true }
  ? string[]
  : M extends { parse: (word: string) => infer V }
    ? V | (F extends `${string}[${string}` ? true : never)
    : M extends { choices: readonly (infer C)[] }
      ? C
      : Text<F>;
type IfAbsent<M> = M extends { repeated: true } | { required: true } | { default: string | number }
  ? never
  : undefined;

/** The options that rows declare, by their long names in camel case. */
export type OptionsOf<O extends readonly OptionRow[]> = {
  [R in O[number] as KeyOf<R[0]>]: ValueOf<R[0], R[2]> | IfAbsent<R[2]>;
};
type WordOf<R extends ArgumentRow> = R[2] extends (word: string) => infer V ? V : string;
type ArgumentOf<R extends ArgumentRow> = R[0] extends `${string}...${string}`
  ? WordOf<R>[]
  : R[0] extends `<${string}`
    ? WordOf<R>
    : WordOf<R> | (R[2] extends string ? never : undefined);
type ArgumentsOf<A extends readonly ArgumentRow[]> = {
  -readonly [I in keyof A]: ArgumentOf<A[I]>;
};

/** A command. `show` answers what is printed, and has `-o` and `--json`; `run` prints by itself. */
export interface Row<C, A extends readonly ArgumentRow[], O extends readonly OptionRow[]> {
  aliases?: readonly string[];
  args?: A;
  options?: O;
  /** Whether the first word that is no option is a program, so that all that follows are its own words. */
  isProgram?: (word: string) => boolean;
  /** What it shows has a form for spreadsheets: `-o csv`. */
  hasCsv?: true;
  show?: (...input: [C, ...ArgumentsOf<A>, OptionsOf<O> & Printing]) => Promise<Shown | undefined>;
  run?: (...input: [C, ...ArgumentsOf<A>, OptionsOf<O>]) => Promise<void>;
}

/** Makes commands of rows whose work begins with what `enter` gives it: a connection, the services, nothing. */
export function commandsWith<C>(
  enter: <T>(work: (context: C) => Promise<T>) => Promise<T>,
): <const A extends readonly ArgumentRow[] = [], const O extends readonly OptionRow[] = []>(
  name: string,
  description: string,
  row: Row<C, A, O>,
) => Command {
  return (
    name,
    description,
    { aliases = [], args = [], options = [], isProgram, hasCsv, show, run },
  ) => {
    const command = new Command(name).description(description).aliases(aliases);
    for (const row of args) addArgument(command, row);
    for (const row of options) command.addOption(optionOf(row));
    if (show) for (const option of printing(hasCsv)) command.addOption(option);
    if (isProgram) leaveWordsOf(command, isProgram);
    const repeated = options.filter(([, , more]) => more?.repeated).map(([flags]) => flags);
    const names = repeated.map((flags) => new Option(flags).attributeName());
    return command.action(async (...given: unknown[]) => {
      const input = given.slice(0, -1); // the last one is the command
      const chosen = input.at(-1) as Record<string, unknown>;
      for (const option of names) chosen[option] ??= [];
      const work = (show ?? run) as (...input: unknown[]) => Promise<Shown | undefined>;
      const shown = await enter(async (context) => work(context, ...input));
      if (shown) await print(chosen as unknown as Printing, shown);
    });
  };
}

/** Options that stand behind a program are its own; behind any other word they are read on. */
function leaveWordsOf(command: Command, isProgram: (word: string) => boolean): void {
  const parse = command.passThroughOptions().parseOptions.bind(command);
  command.parseOptions = (words) => {
    const { operands, unknown } = parse(words);
    // Behind `--` every word is meant as it stands: the command finds that among its options.
    const isMeant = words[words.length - operands.length - 1] === '--';
    command.setOptionValue('isMeant', isMeant);
    const [first, ...others] = operands;
    if (first === undefined || unknown.length > 0 || isProgram(first)) return { operands, unknown };
    command.passThroughOptions(false);
    const rest = parse(others);
    return { operands: [first, ...rest.operands], unknown: rest.unknown };
  };
}

/** A command that needs nothing but its words. */
export const command = commandsWith<undefined>((work) => work(undefined));

/** A noun with its verbs; `byDefault` is the verb of the noun alone. */
export function group(
  name: string,
  description: string,
  commands: readonly Command[],
  byDefault?: string,
): Command {
  const noun = new Command(name).description(description);
  for (const verb of commands) noun.addCommand(verb, { isDefault: verb.name() === byDefault });
  return noun;
}

function addArgument(command: Command, [flags, text, more]: ArgumentRow): void {
  if (typeof more === 'function') {
    const isList = flags.includes('...');
    command.argument(flags, text, (word: string, before: unknown) =>
      isList ? [...((before ?? []) as unknown[]), more(word)] : more(word),
    );
  } else command.argument(flags, text, more);
}

function optionOf([flags, text, more = {}]: OptionRow): Option {
  const { repeated, required, default: fallback, choices, parse, conflicts, hidden } = more;
  const option = new Option(flags, repeated ? `${text}; may be repeated` : text);
  if (choices) option.choices(choices);
  if (parse) option.argParser(parse);
  if (repeated) {
    option.argParser((word, before: string[] | undefined) => [...(before ?? []), word]);
  }
  if (conflicts !== undefined) option.conflicts(conflicts);
  return option
    .default(fallback)
    .makeOptionMandatory(required === true)
    .hideHelp(hidden === true);
}

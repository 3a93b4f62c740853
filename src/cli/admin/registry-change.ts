import {
  ChangeFault,
  describeDifference,
  RegistryFileError,
  RegistryLoader,
  type RegistryContents,
} from '../../registry/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { Shown } from '../terminal/output-format.js';
import type { CliContext } from './context.js';

/** Changes sections of the registry in one step and shows what that changed. Throws CommandError when a rule of the registry is broken. */
export function changeRegistry(
  service: CliContext,
  sectionsOf: (contents: RegistryContents) => Partial<RegistryContents>,
): Promise<Shown> {
  return differenceOf(service, (loader) => loader.change(sectionsOf));
}

/** Shows what work on the registry changes; faults begin with the name of the file. Throws CommandError likewise. */
export async function differenceOf(
  service: CliContext,
  work: (loader: RegistryLoader) => ReturnType<RegistryLoader['change']>,
  file?: string,
): Promise<Shown> {
  try {
    const value = await work(await service.get(RegistryLoader));
    const lines = describeDifference(value);
    const names = value.changes.map(({ name }) => name);
    return { value, lines: lines.length > 0 ? lines : ['no difference'], names };
  } catch (error) {
    if (!(error instanceof RegistryFileError || error instanceof ChangeFault)) throw error;
    throw new CommandError(`${file === undefined ? '' : `${file}: `}${error.message}`, 2);
  }
}

/** The entry of this name. Throws CommandError when there is none. */
export function entryOf<T extends { name: string }>(
  entries: readonly T[],
  name: string,
  kind: string,
): T {
  const entry = entries.find((one) => one.name === name);
  if (entry) return entry;
  throw new CommandError(`there is no ${kind} ${name}`, 2, `\`gridgate ${kind} list\` shows all`);
}

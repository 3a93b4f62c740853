import {
  describeDifference,
  ChangeFault,
  RegistryFileError,
  RegistryLoader,
  type RegistryContents,
  type RegistryDocument,
} from '../../registry/index.js';
import { CommandError } from '../terminal/command-error.js';
import { show, type Printing } from '../terminal/output-format.js';
import type { CliContext } from './context.js';

/** Changes the registry in one step and prints what that changed. Throws CommandError when a rule of the registry is broken. */
export function changeRegistry(
  context: CliContext,
  options: Printing,
  change: (document: RegistryDocument) => void,
): Promise<void> {
  return changed(context, options, (loader) => loader.edit(change));
}

/** The same for sections, by what they are. Throws CommandError likewise. */
export function changeSections(
  context: CliContext,
  options: Printing,
  sectionsOf: (contents: RegistryContents) => Partial<RegistryContents>,
): Promise<void> {
  return changed(context, options, (loader) => loader.change(sectionsOf));
}

async function changed(
  context: CliContext,
  options: Printing,
  work: (loader: RegistryLoader) => ReturnType<RegistryLoader['change']>,
): Promise<void> {
  const loader = (await context.application()).get(RegistryLoader);
  try {
    const found = await work(loader);
    const lines = describeDifference(found);
    const names = found.changes.map(({ name }) => name);
    await show(options, found, () => (lines.length > 0 ? lines : ['no difference']), names);
  } catch (error) {
    if (error instanceof RegistryFileError || error instanceof ChangeFault) {
      throw new CommandError(error.message, 2);
    }
    throw error;
  }
}

/** The entry of this name. Throws CommandError when there is none. */
export function entryOf<T>(section: Record<string, T>, name: string, what: string): T {
  const entry = Object.hasOwn(section, name) ? section[name] : undefined;
  if (entry === undefined) throw new CommandError(`there is no ${what} ${name}`, 2);
  return entry;
}

/** Takes a name out of a list; false when it was not in it. */
export function takeOut<T>(list: T[], isIt: (item: T) => boolean): boolean {
  const place = list.findIndex(isIt);
  if (place >= 0) list.splice(place, 1);
  return place >= 0;
}

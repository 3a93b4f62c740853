import { describe } from '@jest/globals';

interface Block {
  children: Block[];
}

/** What jest-circus keeps of a file of tests: the block to which the next test or hook belongs. */
interface Declared {
  rootDescribeBlock: Block;
  currentDescribeBlock: Block | undefined;
}

/** Loads a spec into a block of its own, named by its path, so that its hooks are for its own tests only. */
export async function specOf(path: string, load: () => Promise<unknown>): Promise<void> {
  const symbols = Object.getOwnPropertySymbols(globalThis);
  const key = symbols.find(({ description }) => description === 'JEST_STATE_SYMBOL');
  const declared = Reflect.get(globalThis, key!) as Declared;
  // A block's function may not wait, and an import does; so the block stays open in its stead.
  describe(path, () => undefined);
  declared.currentDescribeBlock = declared.rootDescribeBlock.children.at(-1);
  await load();
  declared.currentDescribeBlock = declared.rootDescribeBlock;
}

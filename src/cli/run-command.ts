import 'reflect-metadata';
import { CommanderError } from 'commander';
import { Problem } from '#src/kernel/index.js';
import { ConfigurationFault } from '#src/config/index.js';
import type { AdminCommands } from './admin/admin.commands.js';
import { programOf, userCommands } from './program.js';
import { CommandError } from './terminal/command-error.js';
import { tell } from './terminal/output.js';
import { DATABASE_WORDS } from './user/catalogue.commands.js';

/** 128 + SIGPIPE. */
const BROKEN_PIPE = 141;
const VERSION_WORDS = new Set(['--version', '-V']);

/** Exit codes as in docs/command.md. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ConfigurationFault) return 2;
  if (error instanceof Problem) return error.status === 429 || error.status >= 500 ? 3 : 2;
  return 1;
}

function messageOf(error: unknown): string {
  if (error instanceof Problem) return error.detail;
  return error instanceof Error ? error.message : String(error);
}

/** Runs the command with the words of this process. A user's command does not wait until the whole service is loaded. */
export async function runCommand(loadAdmin: () => Promise<AdminCommands>): Promise<void> {
  const forUsers = userCommands();
  const words = wordsOf(process.argv.slice(2));
  const [word = ''] = words;
  const names = forUsers.flatMap(({ commands }) => commands.map((command) => command.name()));
  const isForUsers = VERSION_WORDS.has(word) || names.includes(word);
  const admin = isForUsers ? undefined : await loadAdmin();
  const program = programOf(forUsers, admin?.commands ?? []);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => void leave(error, admin));
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      for (const line of `gridgate: ${messageOf(error)}`.split('\n')) tell(line);
      if (error instanceof CommandError && error.hint !== undefined) tell(`hint: ${error.hint}`);
      process.exitCode = exitCodeOf(error);
    }
  } finally {
    await admin?.close();
  }
}

/** Nobody reads on (`gridgate status | head`): ends quietly, as one whom SIGPIPE ends. */
async function leave(error: NodeJS.ErrnoException, admin?: AdminCommands): Promise<void> {
  if (error.code !== 'EPIPE') tell(`gridgate: standard output cannot be written (${error.code})`);
  await admin?.close();
  process.exit(error.code === 'EPIPE' ? BROKEN_PIPE : 1);
}

/** Words that have always worked on the database go on to do so. */
function wordsOf(words: string[]): string[] {
  const [first, second = ''] = words;
  return first === 'catalogue' && DATABASE_WORDS.has(second) ? ['admin', ...words] : words;
}

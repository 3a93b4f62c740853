import { Command } from 'commander';
import { jsonOption, outputOption } from '../terminal/output-format.js';
import { tell } from '../terminal/output.js';
import { presentLines } from './audit-lines.js';
import { readWish, type AuditOptions } from './audit-options.js';
import { searchStored } from './audit-store.js';
import type { CliContext } from './context.js';

/** `gridgate admin audit`: searches the audit trail of the database (docs/audit.md). */
export function auditCommand(context: CliContext): Command {
  return new Command('audit')
    .description('search the audit trail of all instances')
    .option('-e, --event <name>', 'only this event, or all of job.*; may be repeated', collect, [])
    .option('-u, --user <name>', 'only what this user or account did; may be repeated', collect, [])
    .option('--where <key=value>', 'only lines with this field; may be repeated', collect, [])
    .option('--outcome <outcome>', 'done or refused')
    .option('--since <time>', 'from this day or instant on')
    .option('--until <time>', 'before this day or instant')
    .option('-l, --limit <number>', 'at most so many, the last ones', '100')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: AuditOptions) => {
      await presentLines(options, await searchStored(context, options, readWish(options)));
      if (context.config.auditRetention === 0) {
        tell('GRID_AUDIT_RETENTION is 0: lines are in the log only');
      }
    });
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

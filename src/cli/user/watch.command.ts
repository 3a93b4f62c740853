import { Command } from 'commander';
import type { JobChange, JobResponse } from '#src/client/index.js';
import { emit, jsonText, say, tell } from '../terminal/output.js';
import { withConnection } from './with-connection.js';

interface WatchCommandOptions {
  status: string[];
  group?: string;
  all?: boolean;
  json?: boolean;
}

/** `watch`. */
export function watchCommands(): Command[] {
  return [
    new Command('watch')
      .description('tell each move of your jobs as it happens, until it is interrupted')
      .option('-s, --status <state>', 'only moves into this state; may be repeated', collect, [])
      .option('-g, --group <name>', 'only jobs of this JobGroup')
      .option('--all', 'jobs of all owners')
      .option('--json', 'print a JSON object for each move')
      .action((options: WatchCommandOptions) =>
        withConnection(async ({ client }) => {
          const query = {
            ...(options.status.length > 0 && { status: options.status as JobResponse['status'][] }),
            ...(options.group !== undefined && { jobGroup: options.group }),
            ...(options.all && { allOwners: true }),
          };
          for await (const change of client.watchJobs(query)) print(change, options);
        }),
      ),
  ];
}

function print(change: JobChange, { json }: WatchCommandOptions): void {
  if (change.kind === 'list') {
    if (change.isFirst && !json) tell('watching');
  } else if (json) {
    emit(jsonText({ event: change.kind, ...change.job }));
  } else if (change.kind === 'job') {
    const { jid, status, minorStatus, site, lastUpdate } = change.job;
    say([lastUpdate, jid, status, minorStatus, site].join('  '));
  }
}

function collect(word: string, words: string[]): string[] {
  return [...words, word];
}

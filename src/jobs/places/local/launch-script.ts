import { exportLines, shellWord } from '../../run/shell-word.js';

/** What a program is started with. Texts may hold anything but NUL. */
export interface Launch {
  /** Directory in which it starts, as it sees it. */
  work: string;
  /** Absolute path, or `./name` of an uploaded file. */
  program: string;
  arguments: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** Processes and threads of the job's account, or of its user namespace. */
  tasks: number;
}

/**
 * The script that becomes the program of a job, with no more rights than it: values and arguments stand in it, and so in
 * no list of arguments; only the job's own account can read it.
 */
export function launchScript(launch: Launch): string {
  return [
    `ulimit -u ${launch.tasks} 2>/dev/null || ulimit -p ${launch.tasks} 2>/dev/null`,
    'umask 022',
    `cd ${shellWord(launch.work)} || exit 112`,
    ...exportLines(launch.environment),
    `exec ${[launch.program, ...launch.arguments].map(shellWord).join(' ')}`,
    '',
  ].join('\n');
}

import { exportLines, shellWord } from '#src/jobs/run/index.js';

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
  /** The script stays as pid 1, which inherits orphans and is waited for, and the program is a child of it. */
  isInit: boolean;
}

/**
 * The script that becomes the program of a job, with no more rights than it: values and arguments stand in it, and so in
 * no list of arguments; only the job's own account can read it.
 */
export function launchScript(launch: Launch): string {
  const program = `exec ${[launch.program, ...launch.arguments].map(shellWord).join(' ')}`;
  return [
    `ulimit -u ${launch.tasks} 2>/dev/null || ulimit -p ${launch.tasks} 2>/dev/null`,
    'umask 022',
    `cd ${shellWord(launch.work)} || exit 112`,
    ...exportLines(launch.environment),
    ...(launch.isInit ? asChild(program) : [program]),
    '',
  ].join('\n');
}

/** Shells say to standard error by which signal a child has ended; the output of the job is not for that. */
function asChild(program: string): string[] {
  return [`exec ${KEPT_FD}>&2 2>/dev/null`, `(${program} 2>&${KEPT_FD} ${KEPT_FD}>&-)`, 'exit $?'];
}

const KEPT_FD = 9;

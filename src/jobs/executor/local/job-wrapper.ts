/** What the wrapper is told, in the order of its parameters. */
export interface WrapperOrder {
  /** Directory of the payload, relative to the run's directory. */
  workDirectory: string;
  cpuSeconds: number;
  memoryKiB: number;
  fileBlocks: number;
  processes: number;
  stdout: string;
  stderr: string;
  /** Program and arguments; begins with the program that gives up root's rights, when there are such. */
  command: readonly string[];
}

/**
 * The wrapper around a payload: a POSIX shell script that becomes leader of its own session. It survives the
 * service, and all that it has to say is in files of the run's directory, each written once by one write:
 *
 *  started  "<pid> <start ticks> end": created exclusively. Who creates it decides about the start: the wrapper
 *           (then the payload may run) or a service that gives the run up (then it never will).
 *  usage    the output of `times` after the payload: CPU of the payload in its second line.
 *  exit     "<exit code> end".
 *
 * It uses no program but the payload, so a short job costs one fork beside it. Its last act ends its process group.
 */
export const WRAPPER_SCRIPT = `
set -C
ticks=0
stat=
read -r stat 2>/dev/null < /proc/$$/stat
startOf() { shift 19; ticks=$1; }
if [ -n "$stat" ]; then startOf \${stat##*) }; fi
printf '%s %s end\\n' "$$" "$ticks" 2>/dev/null > started || exit 111
work=$1 cpu=$2 memory=$3 blocks=$4 processes=$5 out=$6 err=$7
shift 7
(
  cd "$work" || exit 112
  exec < /dev/null >> "$out" 2>> "$err"
  ulimit -c 0
  ulimit -f "$blocks"
  ulimit -v "$memory" 2>/dev/null
  ulimit -u "$processes" 2>/dev/null || ulimit -p "$processes" 2>/dev/null
  ulimit -H -t $((cpu + 5)) 2>/dev/null
  ulimit -S -t "$cpu" 2>/dev/null
  umask 022
  exec "$@"
)
code=$?
times > usage
printf '%s end\\n' "$code" > exit
kill -9 0
`;

/** Arguments of /bin/sh. */
export function wrapperArguments(order: WrapperOrder): string[] {
  return [
    '-c',
    WRAPPER_SCRIPT,
    'gridgate-job',
    order.workDirectory,
    String(order.cpuSeconds),
    String(order.memoryKiB),
    String(order.fileBlocks),
    String(order.processes),
    order.stdout,
    order.stderr,
    ...order.command,
  ];
}

/** CPU seconds of the payload in the output of `times` ("0m1.230s 0m0.450s" for children in the second line). */
export function cpuSecondsOf(usage: string): number {
  const children = usage.trim().split('\n')[1] ?? '';
  let seconds = 0;
  for (const [, minutes = '0', rest = '0'] of children.matchAll(/(?<!\d)(\d+)m([\d.,]+)s/g)) {
    seconds += Number(minutes) * 60 + Number(rest.replace(',', '.'));
  }
  return Math.round(seconds * 1000) / 1000;
}

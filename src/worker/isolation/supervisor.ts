/** What a supervisor runs, and the limits that the kernel keeps for each process of it, from before it is enclosed. */
export interface Supervised {
  /** Program and arguments: whatever encloses the job, then the shell with its launch script. */
  command: readonly string[];
  /** Set for an enclosure that wants descriptor 3 for its status and 4 with the filter of system calls. */
  filter?: string | undefined;
  cpuSeconds: number;
  /** Address space; undefined for no limit. */
  memoryKiB?: number | undefined;
  /** Size of a file in blocks of 512 bytes. */
  fileBlocks: number;
  openFiles: number;
  /** The file by which the payload enters the control group of the run; undefined without one. */
  group?: string | undefined;
  /** From this second of /proc/uptime on the run is not started any more; undefined: it may whenever. */
  startUntilSeconds?: number | undefined;
}

/** The first line of a run that is never started. */
export const ABANDONED_RECORD = 'abandoned end\n';

/**
 * The supervisor of a run: a POSIX shell script that becomes leader of its own session, outside of whatever encloses the
 * job. Its directory is not the job's, its descriptors 1 and 2 are the files of the job's output, which were opened
 * before. It survives the service, and all that it has to say is in one file of its directory, `started`, in this order (one
 * file, since to make one costs more than anything else that is written here):
 *
 *  "<pid> <start ticks> end"  with which it is created exclusively. Who creates it decides about the start: the supervisor
 *                             (then the payload may run) or a service that gives the run up (then it never will). A supervisor that
 *                             comes too late gives it up itself.
 *  "no group"                 when the payload could not enter its control group, and so was not started.
 *  objects of JSON            what bubblewrap tells of its sandbox: without an exit code it could not be made.
 *  the output of `times`      after the payload: CPU of the payload in its second line.
 *  "<exit code> end"          by one write.
 *
 * The payload is the first that the kernel ends when the machine is out of memory, before the service, unless it takes that back, as it may
 * where the worker has no CAP_SYS_RESOURCE. The supervisor is not.
 *
 * What is written after the first line needs no further block of the disk: the end is told also when that is full.
 *
 * It uses no program but the payload's, so a short job costs one fork beside it. Its last act ends its process group.
 */
const SUPERVISOR_SCRIPT = `
set -C
umask 077
ticks=0
stat=
read -r stat 2>/dev/null < /proc/$$/stat
startOf() { shift 19; ticks=$1; }
if [ -n "$stat" ]; then startOf \${stat##*) }; fi
cpu=$1 memory=$2 blocks=$3 files=$4 filter=$5 until=$6 group=$7
shift 7
first="$$ $ticks"
if [ -n "$until" ] && read -r up _ 2>/dev/null < /proc/uptime && [ "\${up%.*}" -ge "$until" ]; then first=abandoned; fi
printf '%s end\\n' "$first" 2>/dev/null > started || exit 111
[ "$first" != abandoned ] || exit 111
(
  if [ -n "$group" ] && ! printf 0 2>/dev/null >|"$group"; then
    echo 'no group' >> started
    exit 1
  fi
  ulimit -c 0
  echo 1000 2>/dev/null >|/proc/self/oom_score_adj
  ulimit -f "$blocks"
  ulimit -n "$files" 2>/dev/null
  [ "$memory" = 0 ] || ulimit -v "$memory" 2>/dev/null
  ulimit -H -t $((cpu + 5)) 2>/dev/null
  ulimit -S -t "$cpu" 2>/dev/null
  if [ -n "$filter" ]; then exec 3>>started 4<"$filter"; fi
  exec "$@"
)
code=$?
times >> started
printf '%s end\\n' "$code" >> started
kill -9 0
`;

/** Program and arguments of a supervisor. */
export function supervisorCommand(run: Supervised): string[] {
  const { cpuSeconds, memoryKiB = 0, fileBlocks, openFiles, startUntilSeconds: until } = run;
  return [
    ...['/bin/sh', '-c', SUPERVISOR_SCRIPT, 'gridgate-job'],
    ...[cpuSeconds, memoryKiB, fileBlocks, openFiles].map(String),
    run.filter ?? '',
    until === undefined ? '' : String(Math.floor(until)),
    run.group ?? '',
    ...run.command,
  ];
}

/** CPU seconds of the payload in the second line of the output of `times`, "0m1.230s 0m0.450s" for children. */
export function cpuSecondsOf(children: string): number {
  let seconds = 0;
  for (const [, minutes = '0', rest = '0'] of children.matchAll(/(?<!\d)(\d+)m([\d.,]+)s/g)) {
    seconds += Number(minutes) * 60 + Number(rest.replace(',', '.'));
  }
  return Math.round(seconds * 1000) / 1000;
}

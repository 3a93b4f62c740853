import { HEAD_BYTES } from '../../run/script-head.js';
import { exportLines, shellWord } from '../../run/shell-word.js';

/** What the wrapper of one run must know. Paths are absolute; texts may hold anything but NUL. */
export interface WrapperInput {
  /** Name of the run, `[0-9a-z-]+`. */
  key: string;
  /** Directory shared with the nodes. */
  root: string;
  /** Number of its account, which has directories of its own for its marks. */
  uid: number;
  executable: string;
  /** The executable is a file of the input sandbox. */
  isUploaded: boolean;
  /** PATH on which the name of a program is looked for. */
  path: string;
  arguments: readonly string[];
  /** Names relative to the job's directory. */
  stdOutput: string;
  stdError: string;
  /** Variables of the payload, beside HOME, TMPDIR and Slurm's own. */
  environment: Readonly<Record<string, string>>;
  limits: WrapperLimits;
}

/** Limits that the wrapper itself keeps, whatever the batch system is configured to do. */
export interface WrapperLimits {
  cpuSeconds: number;
  wallSeconds: number;
  fileBytes: number;
}

/** Seconds between SIGTERM and SIGKILL, and between the heartbeats that the wrapper leaves in its directory. */
const GRACE_SECONDS = 2;
const HEARTBEAT_SECONDS = 10;
/** Blocks of `ulimit -f` in a POSIX shell. */
const BLOCK_BYTES = 512;

/**
 * The batch script of an array: its task number `n` runs the wrapper named in line `n` of the batch's list. It is the
 * same for every job, so that one call submits them all.
 */
export function batchScript(root: string, list: string): string {
  return `#!/bin/sh
# One batch of Gridgate jobs; line n of the list names the run of task n.
line=$((\${SLURM_ARRAY_TASK_ID:-0} + 1))
key=$(sed -n "\${line}p" ${shellWord(list)})
[ -n "$key" ] && exec /bin/sh ${shellWord(`${root}/runs`)}/"$key"/wrapper
exit 1
`;
}

/**
 * The POSIX shell script that runs one payload on a node. What it writes below `record/` is the truth about the run,
 * whatever the controller remembers:
 *
 * - `claim` — a link, made before anything else. Only one can make it: the second start of a job that the controller
 *   forgot ends at once, and a service that makes it first knows that the payload will never start.
 * - `start`, `alive`, `exit` — when and where it started, a sign of life, and how it ended with its times.
 *
 * `marks/begun/<uid>/<key>` and `marks/ended/…` only say where to look. The file `cancel` ends the payload within two seconds also
 * when the controller is away. On SIGTERM (scancel, Slurm's time limit) the payload gets two seconds, not KillWait.
 */
export function wrapperScript(input: WrapperInput): string {
  return [...head(input), ...payload(input), ...WATCH, ...ENDING].join('\n');
}

function head({ key, root, uid, limits }: WrapperInput): string[] {
  return [
    '#!/bin/sh',
    `key=${shellWord(key)}`,
    `root=${shellWord(root)}`,
    `uid=${uid}`,
    `wall=${limits.wallSeconds}`,
    'dir="$root/runs/$key"',
    'record="$dir/record"',
    'ln -s started "$record/claim" 2>/dev/null || exit 0',
    'umask 077',
    'note() { printf "%s\\n" "$2" >"$record/$1.new" && mv -f "$record/$1.new" "$record/$1"; }',
    'begin=$(date +%s.%N) head=',
    'host=$(uname -n)',
    'end() {',
    '  cpu=$(tr "\\n" " " <"$record/times" 2>/dev/null)',
    '  rss=$(cat "$record/rss" 2>/dev/null)',
    '  page=$(getconf PAGESIZE 2>/dev/null)',
    '  note exit "status=$1',
    'why=$2',
    'begin=$begin',
    'end=$(date +%s.%N)',
    'host=$host',
    'batch=${SLURM_JOB_ID:-}',
    'cpu=$cpu',
    'rss=$rss $page',
    'head=$head"',
    '  sync "$record/exit" 2>/dev/null',
    '  : >"$root/marks/ended/$uid/$key"',
    '  exit "$1"',
    '}',
    'note start "begin=$begin',
    'host=$host',
    'batch=${SLURM_JOB_ID:-}"',
    ': >"$root/marks/begun/$uid/$key"',
    '[ -e "$dir/cancel" ] && end 0 cancel',
    'cd "$dir/work" 2>/dev/null || end 0 no-directory',
  ];
}

function payload(input: WrapperInput): string[] {
  const { executable, isUploaded, stdOutput, stdError, environment, limits } = input;
  const given = input.arguments.map(shellWord).join(' ');
  const isOne = stdOutput === stdError;
  return [
    `name=${shellWord(isUploaded ? `./${executable}` : executable)}`,
    isUploaded ? 'chmod u+x "$name" 2>/dev/null' : `path=${shellWord(input.path)}`,
    ...FIND_PROGRAM,
    `search=${shellWord(environment['PATH'] ?? input.path)}`,
    ...FIND_INTERPRETER,
    `out=${shellWord(stdOutput)}`,
    `err=${shellWord(stdError)}`,
    '(',
    '  ulimit -c 0',
    `  ulimit -f ${Math.max(1, Math.floor(limits.fileBytes / BLOCK_BYTES))} 2>/dev/null`,
    `  ulimit -S -t ${limits.cpuSeconds} 2>/dev/null`,
    `  ulimit -H -t ${limits.cpuSeconds + GRACE_SECONDS} 2>/dev/null`,
    '  umask 022',
    `  exec </dev/null >"$out" 2>${isOne ? '&1' : '"$err"'}`,
    // Words first: a variable of the job may have the name of one of this script.
    `  set -- "$(command -v setsid)" "$program" ${given}`,
    '  export HOME="$dir/work" TMPDIR="$dir/work"',
    ...exportLines(environment).map((line) => `  ${line}`),
    '  exec "$@"',
    ') &',
    'pid=$!',
  ];
}

/** Builtins of the shell are no programs, so PATH is searched here. */
const FIND_PROGRAM = [
  'program=',
  'case "$name" in',
  '  */*) [ -f "$name" ] && [ -x "$name" ] && program=$name ;;',
  '  *)',
  '    rest=$path:',
  '    while [ -n "$rest" ] && [ -z "$program" ]; do',
  '      place=${rest%%:*}/$name; rest=${rest#*:}',
  '      [ -f "$place" ] && [ -x "$place" ] && program=$place',
  '    done ;;',
  'esac',
  '[ -n "$program" ] || end 127 not-found',
];

/**
 * A script whose interpreter is not there is not started, and shells say 127 then, like many a program. The first line is
 * read as `scriptStart` does; in doubt the script is started. `head` are the first bytes of the file, hexadecimal.
 */
const FIND_INTERPRETER = [
  'is_program() { [ -f "$1" ] && [ -x "$1" ]; }',
  'on_path() {',
  '  case $1 in */*) is_program "$1"; return ;; esac',
  '  rest=$search:',
  '  while [ -n "$rest" ]; do',
  '    place=${rest%%:*}; rest=${rest#*:}',
  '    is_program "${place:-.}/$1" && return 0',
  '  done',
  '  return 1',
  '}',
  'return_mark=$(printf "\\r")',
  'may_start() {',
  '  case $1 in /*) ;; *) chmod u+x "$1" 2>/dev/null ;; esac',
  '  is_program "$1" || return 1',
  '  case $1 in /usr/bin/env | /bin/env) shift ;; *) return 0 ;; esac',
  '  case $* in',
  '    -S*)',
  '      wanted=${1#-S}; wanted=${wanted:-${2:-}}; wanted=${wanted%"$return_mark"}',
  '      case $wanted in "" | -* | *[!A-Za-z0-9_./+-]*) return 0 ;; esac',
  '      on_path "$wanted" ;;',
  '    "" | -* | *=*) return 0 ;;',
  // Linux gives `env` the rest of the line as one word.
  '    *) [ $# -eq 1 ] && on_path "$1" ;;',
  '  esac',
  '}',
  `first=$(head -c ${HEAD_BYTES} "$program" 2>/dev/null | tr "\\000" "\\n" | {`,
  '  IFS= read -r line && printf "%s" "$line"',
  '})',
  'case $first in "#!"*)',
  '  set -f; IFS=" \t"; set -- ${first#??}; unset IFS; set +f',
  '  if [ $# -gt 0 ] && ! may_start "$@"; then',
  `    head=$(head -c ${HEAD_BYTES} "$program" | od -An -v -tx1 | tr -d " \\n")`,
  '    end 127 no-interpreter',
  '  fi ;;',
  'esac',
];

/** Memory is looked at every second of the first so many, then with each heartbeat. */
const CLOSE_LOOKS = 10;

/**
 * Pages that the processes of the payload's session have in memory: the most is kept. Names of programs may hold
 * anything, so what comes before the last `) ` of a line is taken off; state is then the first field.
 */
const MEASURE = [
  'most=0',
  'measure() {',
  '  pages=$(cat /proc/[0-9]*/stat 2>/dev/null |',
  `    awk -v sid="$pid" '{ sub(/^.*\\) /, "") } $4 == sid { sum += $22 } END { printf "%d", sum }')`,
  '  [ "${pages:-0}" -gt "$most" ] || return 0',
  '  most=$pages; note rss "$most"',
  '}',
];

const WATCH = [
  ...MEASURE,
  'why=',
  'stop() {',
  '  kill -TERM -"$pid" 2>/dev/null || kill -TERM "$pid" 2>/dev/null',
  `  (sleep ${GRACE_SECONDS}; kill -KILL -"$pid" 2>/dev/null || kill -KILL "$pid") >/dev/null 2>&1 &`,
  '}',
  // The trap may come at any moment; `stopped` keeps what happened first.
  "trap 'why=${why:-term}; stop' TERM INT HUP",
  '(',
  "  trap '' TERM INT HUP",
  '  n=0',
  '  while sleep 1; do',
  '    kill -0 "$pid" 2>/dev/null || exit 0',
  '    n=$((n + 1))',
  '    if [ -e "$dir/cancel" ]; then note why cancel; stop; exit 0; fi',
  '    if [ "$n" -ge "$wall" ]; then note why wall; stop; exit 0; fi',
  `    if [ "$n" -le ${CLOSE_LOOKS} ]; then measure; fi`,
  `    if [ $((n % ${HEARTBEAT_SECONDS})) -eq 0 ]; then`,
  '      : >"$record/alive"',
  '      measure',
  '      n=$(($(date +%s) - ${begin%.*}))',
  '    fi',
  '  done',
  ') >/dev/null 2>&1 &',
  'watcher=$!',
];

const ENDING = [
  'wait "$pid"; status=$?',
  // A signal for the wrapper ends `wait` early.
  'while kill -0 "$pid" 2>/dev/null; do wait "$pid"; status=$?; done',
  'kill -KILL -"$pid" 2>/dev/null',
  'kill -KILL "$watcher" 2>/dev/null',
  'times >"$record/times"',
  '[ -f "$record/why" ] && why=$(cat "$record/why")',
  'end "$status" "$why"',
  '',
];

import * as v from './variables.js';

const DAY = 86_400;

/** Jobs on this machine: whether, how kept apart, and their limits. */
export const LOCAL_JOBS = {
  localExecutor: v.optionalFlag(
    'GRID_LOCAL_EXECUTOR',
    'Allow sites with the local-process backend',
    '`true` outside production',
  ),
  localSlots: v.integer('GRID_LOCAL_SLOTS', 0, {
    min: 0,
    max: 4096,
    description: 'Jobs that local-process runs at once on this instance (0: the number of CPUs)',
  }),
  localIsolation: v.oneOf(
    'GRID_LOCAL_ISOLATION',
    ['auto', 'namespaces', 'accounts', 'none'],
    'auto',
    'How local jobs are kept apart from the service and each other; `auto`: the best of the first two',
  ),
  localAccounts: v.text(
    'GRID_LOCAL_ACCOUNTS',
    '200000-265535',
    'Accounts for running local jobs, one each, when the service was started as root',
  ),
  localBinds: v.text(
    'GRID_LOCAL_BINDS',
    '',
    'Directories of the machine that local jobs see: `/cvmfs:ro,/scratch:rw`',
  ),
  localMinFreeBytes: v.integer('GRID_LOCAL_MIN_FREE', 256 * 1024 * 1024, {
    min: 0,
    description:
      'Bytes that must be free on the disk for local jobs (`GRID_HOME/jobs`); with less no job is started, and those that run go on',
  }),
  localPrograms: v.list(
    'GRID_LOCAL_PROGRAMS',
    'SHA-256 (hexadecimal) of the only uploaded files that jobs may have, without arguments and variables of their own; ' +
      'anything else is refused. Set by `npm run demo` where jobs cannot be isolated. Empty: any',
  ),
  jobLease: v.integer('GRID_JOB_LEASE', 60, {
    min: 5,
    max: 3600,
    description:
      'Seconds of silence after which the jobs of a lost instance are looked after by others',
  }),
  workerGiveUp: v.integer('GRID_WORKER_GIVE_UP', 7_200, {
    min: 60,
    max: 30 * DAY,
    description:
      'Seconds of silence after which what a worker has begun is given up; it is `Stalled` after GRID_JOB_LEASE, 90 seconds at least',
  }),
  reserveAfter: v.integer('GRID_RESERVE_AFTER', 60, {
    min: 0,
    max: 7 * DAY,
    description:
      'Seconds for which smaller jobs may pass a waiting one; then the room that it needs is kept free for it',
  }),
  shares: v.flag(
    'GRID_SHARES',
    true,
    'Share places between groups by their weights and between their owners, by what each has had; ' +
      '`false`: by priority and age alone',
  ),
  shareHalfLife: v.integer('GRID_SHARE_HALF_LIFE', DAY, {
    min: 60,
    max: 366 * DAY,
    description: 'Seconds after which used processor time counts half',
  }),
  jobWallTime: v.integer('GRID_JOB_WALL_TIME', 7 * DAY, {
    min: 1,
    description: 'Seconds of wall-clock time of a local job',
  }),
  jobMemoryMb: v.integer('GRID_JOB_MEMORY', 4096, {
    min: 16,
    description: 'Memory limit of a local job, MiB',
  }),
  jobOutputBytes: v.integer('GRID_JOB_MAX_OUTPUT', 1024 * 1024 * 1024, {
    min: 1024,
    description: 'Bytes that a local job may write into one file',
  }),
  jobProcesses: v.integer('GRID_JOB_PROCESSES', 512, {
    min: 4,
    description: 'Processes of one local job',
  }),
  jobDiskBytes: v.integer('GRID_JOB_DISK', 10 * 1024 * 1024 * 1024, {
    min: 1024 * 1024,
    description: 'Bytes that a local job may have on disk, all files together',
  }),
  jobFiles: v.integer('GRID_JOB_FILES', 100_000, {
    min: 10,
    max: 1_000_000,
    description: 'Files and directories that a local job may have at once',
  }),
  jobOpenFiles: v.integer('GRID_JOB_OPEN_FILES', 1024, {
    min: 16,
    max: 1_048_576,
    description: 'Files that one process of a local job may have open',
  }),
} as const;

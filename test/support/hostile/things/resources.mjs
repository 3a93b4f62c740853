import { call, perl } from './shell.mjs';

const MIB = 'for (1..40) { syswrite($h[$i], $m) or die "REFUSED\\n" }';
/** Fills so many descriptors, each of which `open` gives to $h[$i], with 40 MiB. */
const fill = (files, open) => `$m = "x" x 1048576; for $i (1..${files}) { ${open}; ${MIB} }`;
const HEAP = '$n = 130 << 20; $x = "x" x $n';
const WAIT = 'sleep 15';
const LOOKED_AT = 'the service looks at all its processes every second';

/** More than a job may have: 200 MiB of memory, 100 MB of disk, 64 processes, 100,000 files. */
export const RESOURCES = [
  {
    thing: 'use more memory, by many processes',
    sentence: `${LOOKED_AT}: it may have more for that long`,
    limit: 'memory',
    script: () =>
      perl(`for (1..3) { unless (fork) { $n = 90 << 20; $x = "x" x $n; ${WAIT}; exit } } ${WAIT}`),
  },
  {
    thing: 'use more memory, as files of `/dev/shm`',
    sentence:
      'it is its own, of half its memory, and counted; or what its account has there is counted',
    limit: 'memory',
    script: ({ mark }) =>
      perl(
        `eval { ${fill(6, `open($h[$i], ">", "/dev/shm/hostile-left-${mark}-$i")`)} }; ${HEAP}; ${WAIT}`,
      ),
    leaks: { none: 'yes: they stay' },
  },
  {
    thing: 'use more memory, as files without name (memfd)',
    sentence: 'open files without name are counted',
    limit: 'memory',
    script: () =>
      perl(
        `$name = "m"; ${fill(6, `open($h[$i], "+>&=", ${call('memfd_create', '$name, 0')})`)}; ${WAIT}`,
      ),
  },
  {
    thing: 'use more memory, as segments of System V that nobody has mapped',
    sentence: 'the filter of system calls refuses large ones',
    limit: 'memory',
    script: () =>
      perl(
        '$m = "x" x (40 << 20); for (1..6) { $s = shmget(0, 40 << 20, 0600); ' +
          `defined $s or print("REFUSED\\n"), exit; shmwrite($s, $m, 0, 40 << 20); push @s, $s } ${WAIT}; ` +
          'shmctl($_, 0, 0) for @s',
      ),
    leaks: { none: 'yes, and they stay' },
    isByFilter: true,
  },
  {
    thing: 'fill the disk',
    sentence: 'what it has is counted',
    limit: 'disk',
    script: () => perl(`${fill(3, 'open($h[$i], ">", "f$i")')}; ${WAIT}`),
  },
  {
    thing: 'fill the disk by files that it has removed and keeps open',
    sentence: 'open files without name are counted',
    limit: 'disk',
    script: () => perl(`${fill(3, 'open($h[$i], ">", "f$i"); unlink "f$i"')}; ${WAIT}`),
  },
  {
    thing: 'fill the disk where nobody can look (deep directories)',
    sentence: 'a directory that cannot be looked into ends it',
    limit: 'disk',
    script: () => perl(`$d = "d" x 200; for (1..100) { mkdir $d; chdir $d } ${WAIT}`),
  },
  {
    thing: 'make 400,000 files',
    sentence: 'counting stops at the first that is too many, and is done beside the service',
    limit: 'files',
    script: () => perl('mkdir "m"; for (1..400000) { open($f, ">", "m/$_") or last } sleep 40'),
  },
  {
    thing: 'make processes without end',
    sentence: 'the kernel refuses them, and the service ends the job',
    limit: 'processes',
    script: () =>
      'bomb() { bomb & bomb & wait; exec sleep 20; }; bomb 2>/dev/null & wait; exec sleep 20',
  },
  {
    thing: 'hold up the service by processes with huge environments',
    sentence: 'the service reads no environment',
    script: () =>
      perl(
        '$ENV{"V$_"} = "x" x 100000 for 1..17; for (1..40) { fork or exec "sleep", "3" } 1 while wait > 0',
      ),
  },
  {
    thing: 'hold up the service by output without end of line',
    sentence: 'the service reads the last part of it, and only when asked',
    script: () => perl('$x = "x" x 1048576; print $x for 1..30'),
  },
];

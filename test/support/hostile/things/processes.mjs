import { call, harmIf, perl, refused, syscall } from './shell.mjs';

const UNSEEN = 'it sees only its own processes, and the others belong to another account';
const SEEN = 'yes; nothing of a job and no secret stands in arguments';
const OWN = 'yes: the service has the same account';
/** PTRACE_SEIZE: does not stop who is traced. */
const SEIZE = '0x4206';

/** Tries it at the service, and at its worker. */
const ofBoth =
  (script) =>
  ({ server, worker }) =>
    `${script(server)}\n${script(worker)}`;

/** Processes of the service, of neighbours and of the sandbox itself. */
export const PROCESSES = [
  {
    thing: 'see processes of the service',
    sentence: 'it has a `/proc` of its own',
    script: ofBoth((server) => harmIf(`[ "$(cat /proc/${server}/comm)" = node ]`)),
    leaks: { accounts: SEEN, none: OWN },
  },
  {
    thing: 'read the environment of the service',
    sentence: UNSEEN,
    script: ofBoth((server) => harmIf(`cat /proc/${server}/environ`)),
    leaks: { none: OWN },
  },
  {
    thing: 'read the environment of a neighbour',
    sentence: UNSEEN,
    script: ({ neighbour }) =>
      harmIf(`grep -aq SECRE[T]= /proc/${neighbour.pid}/environ /proc/[0-9]*/environ`),
    leaks: { none: OWN },
  },
  {
    thing: 'find a secret of a neighbour in a list of arguments',
    sentence: 'variables and arguments stand in a file of its account, not in a command',
    script: ({ secret }) =>
      harmIf(`grep -ahE "[${secret[0]}]${secret.slice(1)}" /proc/[0-9]*/cmdline | grep -vq grep`),
  },
  {
    thing: 'read the memory of the service',
    sentence: UNSEEN,
    script: ofBoth((server) => readMemory(server)),
    leaks: { none: OWN },
  },
  {
    thing: 'read the memory of a neighbour',
    sentence: UNSEEN,
    script: ({ neighbour }) => readMemory(neighbour.pid),
    leaks: { none: OWN },
  },
  {
    thing: 'read the memory of a neighbour by process_vm_readv',
    sentence: UNSEEN,
    script: ({ neighbour }) =>
      perl(
        '$b = "x" x 8; $l = pack("pQ", $b, 8); $r = pack("QQ", 4096, 8); ' +
          `$x = ${call('process_vm_readv', `${neighbour.pid}, $l, 1, $r, 1, 0`)}; ` +
          // without a right EPERM, for a process that is not there ESRCH; EFAULT is past both
          'print "HARM\\n" if $x >= 0 || $! == 14',
      ),
    leaks: { none: OWN },
  },
  {
    thing: 'go through the root of the service',
    sentence: UNSEEN,
    script: ofBoth((server) => harmIf(`ls /proc/${server}/root/`)),
    leaks: { none: OWN },
  },
  {
    thing: 'look at the descriptors of the service',
    sentence: UNSEEN,
    script: ofBoth((server) => harmIf(`ls /proc/${server}/fd/`)),
    leaks: { none: OWN },
  },
  {
    thing: 'signal the service',
    sentence: UNSEEN,
    script: ofBoth((server) => harmIf(`kill -0 ${server}`)),
    leaks: { none: OWN },
  },
  {
    thing: 'signal a neighbour',
    sentence: UNSEEN,
    script: ({ neighbour }) => harmIf(`kill -0 ${neighbour.pid}`),
    leaks: { none: OWN },
  },
  {
    thing: 'kill everything that it can kill',
    sentence: 'that is itself',
    script: () => perl('kill 9, -1'),
    notRun: { none: 'yes, the service among it' },
  },
  {
    thing: 'signal its supervisor',
    sentence: 'its supervisor is outside, under another account or in another session',
    script: () =>
      harmIf('[ "$(cat /proc/$PPID/comm)" != bwrap ] && [ "$PPID" -gt 1 ] && kill -CONT $PPID'),
    leaks: { none: OWN },
  },
  {
    thing: 'stop the first process of its sandbox',
    sentence: 'the kernel does not stop a first process from inside',
    script: () => harmIf('{ kill -STOP 1; sleep 0.1; grep "^State:.T" /proc/1/status; }'),
  },
  {
    thing: 'get rid of the filter of system calls by the first process of its sandbox',
    sentence: 'the first process has the same filter, or no right of the job reaches it',
    script: () =>
      perl(
        'sub f { open($s, "<", "/proc/$_[0]/status"); join("", <$s>) =~ /^Seccomp:\\s2/m } ' +
          `print "HARM\\n" if f("self") != f(1) && ${call('ptrace', `${SEIZE}, 1, 0, 0`)} == 0`,
      ),
  },
  {
    thing: 'trace the service',
    sentence: UNSEEN,
    script: ofBoth((server) => syscall('ptrace', `${SEIZE}, ${server}, 0, 0`)),
    leaks: { none: OWN },
  },
  {
    thing: 'trace a neighbour',
    sentence: UNSEEN,
    script: ({ neighbour }) => syscall('ptrace', `${SEIZE}, ${neighbour.pid}, 0, 0`),
    leaks: { none: OWN },
  },
  {
    thing: 'take a descriptor out of its supervisor',
    sentence: 'its supervisor is outside, under another account or in another session',
    script: () =>
      '[ "$(cat /proc/$PPID/comm)" = bwrap ] || [ "$PPID" -le 1 ] || ' +
      perl(
        `$p = ${call('pidfd_open', '$ARGV[0] + 0, 0')}; ` +
          `print "HARM\n" if $p >= 0 && ${call('pidfd_getfd', '$p, 1, 0')} >= 0`,
      ) +
      ' "$PPID"',
    leaks: { none: OWN },
  },
  {
    thing: 'outlive its end',
    sentence:
      'the first process ends with it and takes all along, or all of its account are killed',
    script: ({ mark }) =>
      `env -i setsid sh -c "sleep ${mark} & sleep ${mark} &" & env -i setsid sleep ${mark} & sleep 0.2`,
    remains: { none: 'yes: a program that leaves its session and its parents' },
  },
  {
    thing: 'outlive its end by forgetting who gets signals for its parent (PR_SET_PDEATHSIG)',
    sentence:
      'the first process ends with it and takes all along, or all of its account are killed',
    script: ({ mark }) =>
      perl(
        `${call('prctl', '1, 0, 0, 0, 0')}; ${call('prctl', '36, 1, 0, 0, 0')}; ` +
          `unless (fork) { setpgrp; unless (fork) { exec "setsid", "sleep", "${mark}" } }; ` +
          'select undef, undef, undef, 0.2',
      ),
    remains: { none: 'yes: a program that leaves its session and its parents' },
  },
  {
    thing: 'raise its priority',
    sentence: 'that is root’s',
    script: () => refused('setpriority', '0, 0, -5'),
  },
  {
    thing: 'become a real-time program',
    sentence: 'that is root’s',
    script: () => refused('sched_setscheduler', '0, 1, $p', '$p = pack("i", 1)'),
  },
  {
    thing: 'go first at the disk',
    sentence: 'that is root’s',
    script: () => refused('ioprio_set', '1, 0, 0x2000'),
  },
  {
    thing: 'be the last that a machine without memory ends',
    sentence: 'that is root’s',
    script: () => harmIf('echo -1000 >/proc/self/oom_score_adj'),
  },
  {
    thing: 'use processors that it has not asked for',
    sentence: 'the filter of system calls does not let it choose',
    needs: 'processors',
    script: () =>
      perl(
        `$m = pack("Q16", (~0) x 16); ${call('sched_setaffinity', '0, 128, $m')}; ` +
          'open($s, "<", "/proc/self/status"); ($l) = join("", <$s>) =~ /^Cpus_allowed_list:\\s(.*)/m; ' +
          'print "HARM\\n" if $l ne "0" && $l =~ /[-,]/',
      ),
    leaks: { none: 'yes' },
    isByFilter: true,
  },
];

function readMemory(pid) {
  return perl(
    `open($m, "<", "/proc/${pid}/maps") or exit; ($a) = <$m> =~ /^([0-9a-f]+)/; ` +
      `open($f, "<", "/proc/${pid}/mem") or exit; sysseek($f, hex($a), 0); ` +
      'print "HARM\\n" if sysread($f, $b, 1) == 1',
  );
}

import { harmIf, perl, refused, syscall } from './shell.mjs';

const ROOT = 'that is root’s, and the job is not root inside or outside';
const FILTER = 'the filter of system calls refuses it';

/** BPF_PROG_LOAD of a socket filter that returns 0. */
const PROGRAM =
  '$i = pack("CCsl", 0xb7, 0, 0, 0) . pack("CCsl", 0x95, 0, 0, 0); $l = "GPL"; ' +
  '$p = pack("IIppIIp", 1, 2, $i, $l, 0, 0, undef) . "\\0" x 80';

/** Rights, and what the kernel lends to programs. */
export const KERNEL = [
  {
    thing: 'be root',
    sentence: 'it has an account of its own',
    script: () => harmIf('[ "$(id -u)" = 0 ]'),
  },
  {
    thing: 'have a right that root has',
    sentence: 'all rights of root were given up for good before it began',
    script: () => harmIf('! grep -q "^CapBnd:.0000000000000000" /proc/self/status'),
    leaks: { none: 'not itself, but by setuid programs' },
  },
  {
    thing: 'gain rights by a setuid program',
    sentence: '`no_new_privs`',
    script: () => harmIf('! grep -q "^NoNewPrivs:.1" /proc/self/status'),
    leaks: { none: 'yes' },
  },
  {
    thing: 'make a user namespace inside',
    sentence: 'the filter of system calls refuses it',
    script: () => harmIf('unshare --user true'),
    leaks: { none: 'yes' },
    isByFilter: true,
    needs: 'user namespaces',
  },
  {
    thing: 'mount',
    sentence: ROOT,
    script: () => harmIf('mount -t tmpfs none /tmp || mount --bind / /tmp'),
  },
  {
    thing: 'mount by the newer calls',
    sentence: ROOT,
    script: () => refused('fsopen', '$t, 0', '$t = "tmpfs"'),
  },
  {
    thing: 'change its root (chroot)',
    sentence: ROOT,
    script: () => refused('chroot', '$p', '$p = "."'),
  },
  {
    thing: 'change its root (pivot_root)',
    sentence: ROOT,
    script: () => refused('pivot_root', '$p, $p', '$p = "."'),
  },
  {
    thing: 'enter namespaces of others',
    sentence: ROOT,
    script: () =>
      refused(
        'setns',
        'fileno($f), 0',
        'open($f, "<", "/proc/1/ns/net") || open($f, "<", "/proc/self/ns/net")',
      ),
  },
  {
    thing: 'reach kernel keyrings',
    sentence: FILTER,
    script: () => syscall('keyctl', '0, -5, 0'),
    leaks: { none: 'yes' },
    isByFilter: true,
  },
  {
    thing: 'make an io_uring',
    sentence: FILTER,
    needs: 'io_uring',
    script: () => syscall('io_uring_setup', '1, $p', '$p = "\\0" x 120'),
    leaks: { none: 'yes' },
    isByFilter: true,
  },
  {
    thing: 'load a program into the kernel (bpf)',
    sentence: FILTER,
    script: () => syscall('bpf', '5, $p, 120', PROGRAM),
    leaks: { none: 'yes' },
    isByFilter: true,
    where: { setting: 'kernel.unprivileged_bpf_disabled', values: ['0'] },
  },
  {
    thing: 'load a module into the kernel, or another kernel',
    sentence: ROOT,
    script: () =>
      `${refused('init_module', '$p, 8, $p', '$p = "\\0" x 8')}; ${refused('kexec_load', '0, 0, 0, 0')}`,
  },
  {
    thing: 'watch the machine by perf events',
    sentence: FILTER,
    script: () =>
      syscall('perf_event_open', '$p, -1, 0, -1, 0', '$p = pack("IIQ", 1, 112, 0) . "\\0" x 96'),
    leaks: { none: 'yes' },
    isByFilter: true,
    where: { setting: 'kernel.perf_event_paranoid', values: ['-1', '0'] },
  },
  {
    thing: 'read the log of the kernel',
    sentence: FILTER,
    script: () => syscall('syslog', '3, $b, 1024', '$b = "x" x 1024'),
    leaks: { none: 'yes' },
    isByFilter: true,
    where: { setting: 'kernel.dmesg_restrict', values: ['0'] },
  },
  {
    thing: 'change settings of the kernel',
    sentence: ROOT,
    script: () => harmIf('echo x >/proc/sys/kernel/core_pattern || echo h >/proc/sysrq-trigger'),
  },
  {
    thing: 'find a setting of the kernel that it may change',
    sentence: `${ROOT}; those of its own namespaces are nobody else’s`,
    script: () =>
      harmIf(
        'find /proc/sys /sys -type f -writable | ' +
          'grep -vE "/fs/mqueue/|/kernel/(auto_msgmni|msg|ns_last_pid|pid_max|sem$|shm)" | grep -q .',
      ),
  },
  {
    thing: 'set the clock',
    sentence: ROOT,
    script: () => refused('settimeofday', '0, $z', '$z = pack("ii", 0, 0)'),
  },
  {
    thing: 'name the machine',
    sentence: ROOT,
    script: () => refused('sethostname', '$n, 1', '$n = "x"'),
  },
  {
    thing: 'keep the machine from a restart',
    sentence: ROOT,
    script: () => refused('reboot', '0xfee1dead, 672274793, 0, 0'),
  },
  {
    thing: 'turn swap off',
    sentence: ROOT,
    script: () => refused('swapoff', '$p', '$p = "/dev/vda"'),
  },
  {
    thing: 'turn accounting on',
    sentence: ROOT,
    script: () => refused('acct', '$p', '$p = "acct"'),
  },
  {
    thing: 'change quotas of disks',
    sentence: ROOT,
    // a file system without quotas, or a device that is not there, are no harm
    script: () => syscall('quotactl', '0x800008, $p, 0, 0', '$p = "/dev/vda"'),
  },
  {
    thing: 'leave the dump of a program behind',
    sentence: 'the limit of dumps is 0 for good',
    script: () => harmIf('[ "$(ulimit -H -c)" != 0 ]'),
  },
  {
    thing: 'type into the terminal of whoever started the service',
    sentence: 'it has none, nor a descriptor of one',
    script: () =>
      perl(
        '$c = "x"; for (0..9) { open($f, "<&=", $_) or next; print "HARM\\n" if ioctl($f, 0x5412, $c) } ' +
          'print "HARM\\n" if open($t, "<", "/dev/tty")',
      ),
  },
  {
    thing: 'find a descriptor left open',
    sentence: 'it gets the three that every program has',
    script: () => harmIf('[ "$(ls /proc/self/fd | wc -l)" -gt 4 ]'),
  },
  {
    thing: 'see the environment of the service in its own',
    sentence: 'its environment is made anew',
    script: () => harmIf('env | grep -E "GRID_HOME|DATABASE_URL|NODE_"'),
  },
  {
    thing: 'weaken a program of others by its personality',
    sentence: 'the kernel clears it for setuid programs, and there are none for the job',
    script: ({ neighbour }) =>
      harmIf(`{ setarch -R true; grep -qv "^00000000" /proc/${neighbour.pid}/personality; }`),
  },
];

/** Words of which hostile programs are made. Each program is a line of /bin/sh that prints HARM when it could do harm. */

const NUMBERS = {
  x64: {
    ...{ socket: 41, shmget: 29, chroot: 161, swapoff: 168, reboot: 169, sethostname: 170 },
    ...{ ptrace: 101, syslog: 103, setpriority: 141, sched_setscheduler: 144, pivot_root: 155 },
    ...{ prctl: 157, settimeofday: 164, quotactl: 179, ioprio_set: 251, inotify_add_watch: 254 },
    ...{ sched_setaffinity: 203, add_key: 248, keyctl: 250, inotify_init1: 294, unshare: 272 },
    ...{ perf_event_open: 298, fanotify_init: 300, open_by_handle_at: 304, setns: 308 },
    ...{ process_vm_readv: 310, renameat2: 316, memfd_create: 319, bpf: 321, userfaultfd: 323 },
    ...{ init_module: 175, kexec_load: 246, acct: 163, mount: 165, iopl: 172, shmat: 30 },
  },
  arm64: {
    ...{ socket: 198, shmget: 194, chroot: 51, swapoff: 225, reboot: 142, sethostname: 161 },
    ...{ ptrace: 117, syslog: 116, setpriority: 140, sched_setscheduler: 119, pivot_root: 41 },
    ...{ prctl: 167, settimeofday: 170, quotactl: 60, ioprio_set: 30, inotify_add_watch: 27 },
    ...{ sched_setaffinity: 122, add_key: 217, keyctl: 219, inotify_init1: 26, unshare: 97 },
    ...{ perf_event_open: 241, fanotify_init: 262, open_by_handle_at: 265, setns: 268 },
    ...{ process_vm_readv: 270, renameat2: 276, memfd_create: 279, bpf: 280, userfaultfd: 282 },
    ...{ init_module: 105, kexec_load: 104, acct: 89, mount: 40, iopl: 172, shmat: 196 },
  },
};
/** Numbers that every machine has in common. */
const COMMON = {
  pidfd_send_signal: 424,
  io_uring_setup: 425,
  fsopen: 430,
  pidfd_open: 434,
  pidfd_getfd: 438,
};

/** The number of a system call on this machine. */
export function number(name) {
  return { ...COMMON, ...(NUMBERS[process.arch] ?? NUMBERS.x64) }[name];
}

/** A program of perl; it must have no single quotes. */
export const perl = (code) => `perl -e '${code}'`;

/** Harm is done when the command succeeds. */
export const harmIf = (command) => `if ${command}; then echo HARM; fi 2>/dev/null`;

/** A system call as perl writes it. */
export const call = (name, words) => `syscall(${number(name)}, ${words})`;

/** Harm is done when the system call succeeds. */
export const syscall = (name, words, before = '') =>
  perl(`${before}; print "HARM\\n" if ${call(name, words)} >= 0`);

/** Harm is done unless the system call is refused for want of a right (EPERM, EACCES) or is not there (ENOSYS). */
export const refused = (name, words, before = '') =>
  perl(
    `${before}; $r = ${call(name, words)}; print "HARM\\n" unless $r < 0 && grep { $!+0 == $_ } 1, 13, 38`,
  );

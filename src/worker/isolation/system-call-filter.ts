/**
 * The filter of system calls of jobs (seccomp, classic BPF; seccomp(2)): no kernel keyrings, which namespaces do not keep
 * apart; no new namespaces and mounts, whose code in the kernel a stranger should not reach; no bpf, perf, io_uring,
 * userfaultfd; no log of the kernel; no choice of processors, which are those that the job has asked for; no typing into
 * somebody else's terminal; no sockets but Unix, IPv4, IPv6 and netlink: a network namespace does not keep vsock apart,
 * which reaches whoever runs the virtual machine; no large segments of System V, which nobody can count. Everything else
 * is left to the job.
 */

/** Refused calls whose numbers are the same on every machine since Linux 5.1. */
const COMMON = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
};

type Machine = 'x64' | 'arm64';
/** A number by `process.arch`. */
type ByMachine = Record<Machine, number>;

/** Other refused calls. */
const DENIED: Record<string, ByMachine> = {
  pivot_root: { x64: 155, arm64: 41 },
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  syslog: { x64: 103, arm64: 116 },
  sched_setaffinity: { x64: 203, arm64: 122 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  keyctl: { x64: 250, arm64: 219 },
  unshare: { x64: 272, arm64: 97 },
  perf_event_open: { x64: 298, arm64: 241 },
  setns: { x64: 308, arm64: 268 },
  bpf: { x64: 321, arm64: 280 },
  userfaultfd: { x64: 323, arm64: 282 },
};
/** Calls whose arguments decide. */
const CLONE: ByMachine = { x64: 56, arm64: 220 };
const IOCTL: ByMachine = { x64: 16, arm64: 29 };
const SOCKET: ByMachine = { x64: 41, arm64: 198 };
const SHMGET: ByMachine = { x64: 29, arm64: 194 };
/** AUDIT_ARCH_* of the kernel. */
const AUDIT: ByMachine = { x64: 0xc000003e, arm64: 0xc00000b7 };

const CLONE3 = 435;
const X32_BIT = 0x40000000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** Put letters into the input of a terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const SOCKETS = [1, 2, 10, 16];
/**
 * Bytes of a segment of System V. Whoever maps one is seen to use its memory; what nobody maps is not seen. With 4,096
 * segments (kernel.shmmni) of this size that is 256 MiB at most; PostgreSQL and Open MPI ask for less than a page.
 */
const SEGMENT_BYTES = 64 * 1024;

const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;
const ALLOW = 0x7fff0000;

const LOAD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ABOVE = 0x25;
const ANY_BIT = 0x45;
const RETURN = 0x06;
/** Offsets in struct seccomp_data; arguments are looked at by their lower half, sizes by both. */
const AT = { number: 0, machine: 4, firstArgument: 16, secondArgument: 24, secondUpper: 28 };

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** The filter for a machine (`process.arch`), as struct sock_filter[]; undefined where its numbers are not known. */
export function systemCallFilter(arch: string): Buffer | undefined {
  if (arch !== 'x64' && arch !== 'arm64') return undefined;
  const numbers = [
    ...Object.values(COMMON),
    ...Object.values(DENIED).map((number) => number[arch]),
  ];
  const denied = numbers.flatMap((number): Instruction[] => [
    [EQUAL, 0, 1, number],
    [RETURN, 0, 0, EPERM],
  ]);
  const program: Instruction[] = [
    [LOAD, 0, 0, AT.machine],
    [EQUAL, 1, 0, AUDIT[arch]],
    [RETURN, 0, 0, ENOSYS],
    [LOAD, 0, 0, AT.number],
    [AT_LEAST, 0, 1, X32_BIT],
    [RETURN, 0, 0, ENOSYS],
    // Its flags stand in memory, which a filter cannot read; libraries fall back to clone.
    [EQUAL, 0, 1, CLONE3],
    [RETURN, 0, 0, ENOSYS],
    ...denied,
    [EQUAL, 0, 4, CLONE[arch]],
    [LOAD, 0, 0, AT.firstArgument],
    [ANY_BIT, 0, 1, NEW_NAMESPACES],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    [EQUAL, 0, 5, IOCTL[arch]],
    [LOAD, 0, 0, AT.secondArgument],
    [EQUAL, 1, 0, TIOCSTI],
    [EQUAL, 0, 1, TIOCLINUX],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    [EQUAL, 0, SOCKETS.length + 3, SOCKET[arch]],
    [LOAD, 0, 0, AT.firstArgument],
    ...SOCKETS.map((family, at): Instruction => [EQUAL, SOCKETS.length - at, 0, family]),
    [RETURN, 0, 0, EAFNOSUPPORT],
    [RETURN, 0, 0, ALLOW],
    [EQUAL, 0, 5, SHMGET[arch]],
    [LOAD, 0, 0, AT.secondUpper],
    [EQUAL, 0, 2, 0],
    [LOAD, 0, 0, AT.secondArgument],
    [ABOVE, 0, 1, SEGMENT_BYTES],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ];
  return encode(program);
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}

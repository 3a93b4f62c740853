import { systemCallFilter } from './system-call-filter.js';

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;
const X86_64 = 0xc000003e;

/** Runs a filter as the kernel would. */
function verdict(
  filter: Buffer,
  call: { arch?: number; nr: number; args?: number[]; upper?: number },
): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.nr, 0);
  data.writeUInt32LE(call.arch ?? X86_64, 4);
  (call.args ?? []).forEach((value, index) => data.writeUInt32LE(value, 16 + index * 8));
  data.writeUInt32LE(call.upper ?? 0, 28); // upper half of the second argument
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const code = filter.readUInt16LE(at * 8);
    const [yes, no] = [filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
    const value = filter.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return value;
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x15) at += accumulator === value ? yes : no;
    else if (code === 0x35) at += accumulator >= value ? yes : no;
    else if (code === 0x25) at += accumulator > value ? yes : no;
    else if (code === 0x45) at += (accumulator & value) !== 0 ? yes : no;
    else throw new Error(`instruction ${code}`);
  }
  throw new Error('ran off the end');
}

describe('systemCallFilter', () => {
  const filter = systemCallFilter('x64') ?? Buffer.alloc(0);

  it.each([
    ['read', { nr: 0 }, ALLOW],
    ['execve', { nr: 59 }, ALLOW],
    ['ptrace within the job', { nr: 101 }, ALLOW],
    ['fork by clone', { nr: 56, args: [0x01200011] }, ALLOW],
    ['clone into a user namespace', { nr: 56, args: [0x10000011] }, EPERM],
    ['clone3, whose flags cannot be seen', { nr: 435 }, ENOSYS],
    ['unshare', { nr: 272 }, EPERM],
    ['setns', { nr: 308 }, EPERM],
    ['mount', { nr: 165 }, EPERM],
    ['keyctl', { nr: 250 }, EPERM],
    ['add_key', { nr: 248 }, EPERM],
    ['bpf', { nr: 321 }, EPERM],
    ['io_uring_setup', { nr: 425 }, EPERM],
    ['ioctl TCGETS', { nr: 16, args: [1, 0x5401] }, ALLOW],
    ['ioctl TIOCSTI', { nr: 16, args: [1, 0x5412] }, EPERM],
    ['ioctl TIOCLINUX', { nr: 16, args: [1, 0x541c] }, EPERM],
    ['syslog', { nr: 103 }, EPERM],
    ['sched_setaffinity', { nr: 203 }, EPERM],
    ['a Unix socket', { nr: 41, args: [1, 1] }, ALLOW],
    ['an IPv4 socket', { nr: 41, args: [2, 1] }, ALLOW],
    ['an IPv6 socket', { nr: 41, args: [10, 1] }, ALLOW],
    ['a netlink socket', { nr: 41, args: [16, 3] }, ALLOW],
    ['a packet socket', { nr: 41, args: [17, 3] }, EAFNOSUPPORT],
    ['a socket to the machine around a virtual one', { nr: 41, args: [40, 1] }, EAFNOSUPPORT],
    ['a small segment of System V', { nr: 29, args: [0, 65536] }, ALLOW],
    ['a large one', { nr: 29, args: [0, 65537] }, EPERM],
    ['one of 4 GiB, by its upper half', { nr: 29, args: [0, 0], upper: 1 }, EPERM],
    ['a call of the x32 numbers', { nr: 0x40000000 + 272 }, ENOSYS],
    ['a call of another machine', { nr: 1, arch: 0x40000003 }, ENOSYS],
  ])('%s', (_name, call, expected) => {
    expect(verdict(filter, call)).toBe(expected);
  });

  it('is there for arm64, too, and for no machine whose numbers are not known', () => {
    const arm = systemCallFilter('arm64') ?? Buffer.alloc(0);
    expect(verdict(arm, { nr: 97, arch: 0xc00000b7 })).toBe(EPERM);
    expect(verdict(arm, { nr: 97 })).toBe(ENOSYS);
    expect(systemCallFilter('mips')).toBeUndefined();
  });
});

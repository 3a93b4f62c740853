import { memoryPlace } from './memory-group.js';

/** Lines of /proc/self/mountinfo, with what is of interest in them. */
const mount = (root: string, path: string, type: string, options = 'rw'): string =>
  `30 24 0:26 ${root} ${path} rw,nosuid - ${type} ${type} ${options}`;

describe('the place of the control group of a worker', () => {
  const ROOT = mount('/', '/', 'ext4');

  it('is below its own with version 1', () => {
    const mounts = [
      ROOT,
      mount('/', '/sys/fs/cgroup/cpu', 'cgroup', 'rw,cpu'),
      mount('/', '/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
      mount('/', '/sys/fs/cgroup/unified', 'cgroup2'),
    ];
    expect(memoryPlace(mounts, ['8:cpu:/a', '4:memory:/a/b:c', '0::/d', ''])).toEqual({
      version: 1,
      directory: '/sys/fs/cgroup/memory/a/b:c',
    });
  });

  it('is beside its own with version 2, and below the one of all', () => {
    const mounts = [ROOT, mount('/', '/sys/fs/cgroup', 'cgroup2')];
    expect(memoryPlace(mounts, ['0::/system.slice/gridgate.service/worker'])).toEqual({
      version: 2,
      directory: '/sys/fs/cgroup/system.slice/gridgate.service',
    });
    expect(memoryPlace(mounts, ['0::/'])).toEqual({ version: 2, directory: '/sys/fs/cgroup' });
    // Beside a whole unit, or a login, is a place of systemd.
    expect(memoryPlace(mounts, ['0::/system.slice/gridgate.service'])).toBeUndefined();
    expect(memoryPlace(mounts, ['0::/user.slice/user-0.slice/session-1.scope'])).toBeUndefined();
  });

  it('is found where a container sees a part of the tree', () => {
    const mounts = [ROOT, mount('/docker/1', '/sys/fs/cgroup/memory', 'cgroup', 'ro,memory')];
    for (const [own, directory] of [
      ['/docker/1', '/sys/fs/cgroup/memory'],
      ['/docker/1/a', '/sys/fs/cgroup/memory/a'],
    ]) {
      expect(memoryPlace(mounts, [`4:memory:${own}`])).toEqual({ version: 1, directory });
    }
  });

  it('is nowhere without a control group for memory', () => {
    expect(memoryPlace([ROOT], ['0::/'])).toBeUndefined();
    expect(memoryPlace([ROOT, mount('/', '/c', 'cgroup', 'rw,cpu')], ['8:cpu:/'])).toBeUndefined();
    expect(memoryPlace([ROOT, mount('/', '/c', 'cgroup2')], [])).toBeUndefined();
  });
});

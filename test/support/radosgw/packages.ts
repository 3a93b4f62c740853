import { accessSync, constants } from 'node:fs';

/** Program and the Debian package that brings it. */
const NEEDS: readonly { path: string; package: string }[] = [
  { path: '/usr/bin/radosgw', package: 'radosgw' },
  { path: '/usr/bin/radosgw-admin', package: 'radosgw' },
  { path: '/usr/bin/ceph-mon', package: 'ceph-mon' },
  { path: '/usr/bin/ceph-osd', package: 'ceph-osd' },
  { path: '/usr/bin/ceph', package: 'ceph-common' },
  { path: '/usr/bin/monmaptool', package: 'ceph-common' },
];

/** Why no radosgw can be started here, as a sentence; undefined when nothing is missing. */
export function radosgwFault(): string | undefined {
  const missing = NEEDS.filter(({ path }) => !isExecutable(path)).map((need) => need.package);
  if (missing.length === 0) return undefined;
  const list = [...new Set(missing)].join(' ');
  return `packages are missing: apt-get install --no-install-recommends ${list}`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

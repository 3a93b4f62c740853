import { posix } from 'node:path';
import type { ArchiveFile } from '../../src/jobs/sandbox/sandbox-archive.js';

/** Prints what Python's tarfile finds in a tar.gz: `[[name, kind, size, link, text]]`. */
export const PYTHON_LIST = `
import json, sys, tarfile
kinds = {tarfile.REGTYPE: 'file', tarfile.DIRTYPE: 'directory', tarfile.SYMTYPE: 'link'}
with tarfile.open(sys.argv[1], 'r:gz') as archive:
    print(json.dumps([[m.name, kinds.get(m.type, '?'), m.size, m.linkname,
        archive.extractfile(m).read().decode('latin1') if m.isreg() and m.size < 100 else ''] for m in archive]))`;

/** As GNU tar names it, and as Python's tarfile lists it. */
export function listed({ name, sizeBytes, content }: ArchiveFile): [string, unknown[]] {
  if ('linkTo' in content) {
    const target = posix.relative(posix.dirname(name), content.linkTo) || '.';
    return [name, [name, 'link', 0, target]];
  }
  return 'isDirectory' in content
    ? [`${name}/`, [name, 'directory', 0, '']]
    : [name, [name, 'file', sizeBytes, '']];
}

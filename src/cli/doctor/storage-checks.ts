import { createHash, randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { buffer } from 'node:stream/consumers';
import type { SandboxStore } from '../../jobs/index.js';
import type { Config } from '#src/config/index.js';
import { fault, ok, reasonOf, warning, type Finding } from './finding.js';

const LOW_SHARE = 0.1;
const LOW_BYTES = 2 * 1024 ** 3;
const EMPTY_BYTES = 256 * 1024 ** 2;

/** Writes, reads back and removes one small archive. */
export async function checkStore(config: Config, store: SandboxStore): Promise<Finding> {
  const check = 'sandbox store';
  const place = config.sandboxStore || `${config.homePath}/sandboxes`;
  const content = randomBytes(4096);
  const hash = createHash('sha256').update(content).digest('hex');
  const started = performance.now();
  try {
    await store.put({ hash, sizeBytes: content.length, content });
    const read = await buffer(
      await store.open(hash, { sizeBytes: content.length, range: { start: 1, end: 4000 } }),
    );
    await store.remove(hash);
    if (!read.equals(content.subarray(1, 4001))) {
      return fault(
        check,
        `${place} answers other bytes than were written`,
        'Do not use this store',
      );
    }
  } catch (error) {
    const advice =
      'Check GRID_SANDBOX_STORE, its rights, and the S3 variables where it is a bucket';
    return fault(check, `${place}: ${reasonOf(error)}`, advice);
  }
  const milliseconds = Math.round(performance.now() - started);
  const text = `${place}: written, read in part and removed in ${milliseconds} ms`;
  if (config.production && config.sandboxStore === '') {
    const advice = 'Several instances need one store: a shared directory or s3://bucket/prefix';
    return warning(check, `${text}; it lies in GRID_HOME`, advice);
  }
  return ok(check, text);
}

/** Free space and inodes where the service writes. */
export async function checkDisk(config: Config): Promise<Finding[]> {
  const places = new Map([
    ['GRID_HOME', config.homePath],
    ['temporary files', tmpdir()],
  ]);
  if (config.sandboxStore.startsWith('/')) places.set('sandboxes', config.sandboxStore);
  return Promise.all([...places].map(([name, path]) => diskFinding(`disk (${name})`, path)));
}

async function diskFinding(check: string, path: string): Promise<Finding> {
  try {
    const { bavail, blocks, bsize, files, ffree } = await statfs(path);
    const free = bavail * bsize;
    const share = blocks === 0 ? 1 : bavail / blocks;
    const inodes = files === 0 ? 1 : ffree / files;
    const text = `${path}: ${(free / 1024 ** 3).toFixed(1)} GiB free (${Math.round(share * 100)} %), ${Math.round(inodes * 100)} % of the inodes`;
    const advice = 'Make room, or shorten GRID_SANDBOX_RETENTION';
    if (free < EMPTY_BYTES || inodes < 0.01) return fault(check, text, advice);
    const isLow = (share < LOW_SHARE && free < 10 * LOW_BYTES) || free < LOW_BYTES || inodes < 0.1;
    return isLow ? warning(check, text, advice) : ok(check, text);
  } catch (error) {
    return fault(check, `${path}: ${reasonOf(error)}`, 'The service writes there');
  }
}

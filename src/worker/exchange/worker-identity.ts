import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { textOf } from '../runs/run-directory.js';

const DIGITS = 16;

/** What a worker knows of itself, as its directory keeps it. */
export interface Enrolment {
  server: string;
  site: string;
  id: string;
}

interface KeptEnrolment extends Enrolment {
  /** Where the key was, and its inode: in a copy of the directory both are others. */
  keyPath: string;
  keyFile: number;
}

/** Private key of the worker in that directory, PEM; made at the first time. */
export async function workerKey(directory: string): Promise<string> {
  const path = join(directory, 'key.pem');
  const known = textOf(path);
  if (known !== undefined) return createPrivateKey(known) && known;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  await writeWhole(path, pem);
  return pem;
}

/** As what the worker in that directory was registered, and whether that is a copy of its directory; undefined for a new one. */
export async function readEnrolment(
  directory: string,
): Promise<(Enrolment & { isCopy: boolean }) | undefined> {
  const text = textOf(join(directory, 'worker.json'));
  if (text === undefined) return undefined;
  const { keyPath, keyFile, ...kept } = JSON.parse(text) as KeptEnrolment;
  const now = await keyPlace(directory);
  return { ...kept, isCopy: now.keyPath !== keyPath && now.keyFile !== keyFile };
}

/** Notes as what it is registered. */
export async function writeEnrolment(directory: string, enrolment: Enrolment): Promise<void> {
  const kept: KeptEnrolment = { ...enrolment, ...(await keyPlace(directory)) };
  await writeWhole(join(directory, 'worker.json'), `${JSON.stringify(kept)}\n`);
}

async function keyPlace(directory: string): Promise<{ keyPath: string; keyFile: number }> {
  const keyPath = join(directory, 'key.pem');
  return { keyPath, keyFile: (await stat(keyPath)).ino };
}

/** The worker is none any more: it registers anew at its next start. */
export async function forgetEnrolment(directory: string): Promise<void> {
  await rm(join(directory, 'worker.json'), { force: true });
}

/**
 * The numbers of claims: each is on the disk before it is used, so that none is used twice, and a copy of the directory falls behind
 * the worker that goes on.
 */
export class ClaimNumbers {
  private written: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: FileHandle,
    private last: number,
  ) {}

  /** Opens the file of that directory. */
  static async open(directory: string): Promise<ClaimNumbers> {
    const path = join(directory, 'claims');
    const text = textOf(path);
    if (text === undefined) await writeWhole(path, '0'.padStart(DIGITS));
    return new ClaimNumbers(await open(path, 'r+'), Number(text ?? 0));
  }

  /** One at a time, so that the disk has the last one. */
  async next(): Promise<number> {
    this.last += 1;
    const number = this.last;
    // The fault of an earlier one is not that of this one.
    const earlier = this.written.catch(() => undefined);
    this.written = earlier.then(async () => {
      await this.file.write(String(number).padStart(DIGITS), 0);
      await this.file.datasync();
    });
    await this.written;
    return number;
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}

/** The file appears whole or not at all. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  const directory = await open(dirname(path)); // so that the name outlives a loss of power
  await directory.sync().finally(() => directory.close());
}

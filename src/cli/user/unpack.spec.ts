import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pack } from 'tar-stream';
import { unpack } from './unpack.js';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'grid-unpack-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const tar = pack();
  for (const [name, text] of Object.entries(files)) tar.entry({ name }, text);
  tar.finalize();
  return await buffer(tar.pipe(createGzip()));
}

it('unpacks every file, also when the directory is made more slowly than the archive arrives', async () => {
  const archive = await archiveOf({ a: '1', 'b/c': '2' });
  const directory = join(home, ...Array<string>(400).fill('d'));
  expect(await unpack([archive] as never, directory)).toEqual(['a', 'b/c']);
  expect(await readFile(join(directory, 'a'), 'utf8')).toBe('1');
  expect(await readFile(join(directory, 'b/c'), 'utf8')).toBe('2');
});

import { lstat, mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
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

async function archiveOf(
  files: Record<string, string>,
  links: Record<string, string> = {},
): Promise<Buffer> {
  const tar = pack();
  for (const [name, linkname] of Object.entries(links)) {
    tar.entry({ name, type: 'symlink', linkname });
  }
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

it('makes links that stay in the directory, also a second time', async () => {
  const links = { 'd/latest': 'run_1', 'd/up': '..', top: 'd/run_1', gone: 'nowhere' };
  const archive = await archiveOf({ 'd/run_1': '1' }, links);
  await unpack([archive] as never, home);
  expect(await unpack([archive] as never, home)).toEqual([...Object.keys(links), 'd/run_1']);
  for (const [name, target] of Object.entries(links)) {
    expect(await readlink(join(home, name))).toBe(target);
  }
  expect(await readFile(join(home, 'd/latest'), 'utf8')).toBe('1');
});

it('makes the directories of the archive, also a second time', async () => {
  const tar = pack();
  for (const name of ['d/empty/', 'other']) tar.entry({ name, type: 'directory' });
  tar.entry({ name: 'd/x' }, '1');
  tar.entry({ name: 'link', type: 'symlink', linkname: 'd/empty' });
  tar.finalize();
  const archive = await buffer(tar.pipe(createGzip()));
  await unpack([archive] as never, home);
  expect(await unpack([archive] as never, home)).toEqual(['d/empty/', 'other/', 'd/x', 'link']);
  expect((await stat(join(home, 'link'))).isDirectory()).toBe(true);
  expect((await lstat(join(home, 'other'))).isDirectory()).toBe(true);
  const file = await archiveOf({ other: '1' });
  await expect(unpack([file] as never, home)).rejects.toThrow('EISDIR');
});

it('makes no directory in the place of a link of an archive before', async () => {
  const first = await archiveOf({ x: '1' }, { d: 'e' });
  await unpack([first] as never, home);
  const tar = pack();
  tar.entry({ name: 'd', type: 'directory' });
  tar.finalize();
  const second = await buffer(tar.pipe(createGzip()));
  await expect(unpack([second] as never, home)).rejects.toThrow('EEXIST');
});

it.each([
  ['is absolute', { link: '/etc/passwd' }],
  ['leads up', { link: '..' }],
  ['leads up from a directory', { 'd/link': '../../x' }],
  ['turns back on its way', { 'd/up': '..', link: 'd/up/..' }],
  ['has a name outside', { '../link': 'x' }],
])('refuses a link that %s', async (_what, links) => {
  const archive = await archiveOf({ a: '1' }, links);
  await expect(unpack([archive] as never, join(home, 'out'))).rejects.toThrow('refused to unpack');
});

it('writes no file through a link of the archive', async () => {
  const archive = await archiveOf({ 'd/x': '1' }, { d: 'e' });
  await expect(unpack([archive] as never, join(home, 'out'))).rejects.toThrow();
  await expect(readFile(join(home, 'out/e/x'))).rejects.toThrow('ENOENT');
});

it('writes nothing through a link of an archive before', async () => {
  const directory = join(home, 'a/b/out');
  const first = await archiveOf({ 'top/x': '1' }, { 'a/b/c': '../../top', file: 'top/x' });
  await unpack([first] as never, directory);
  const below: Record<string, string>[] = [
    { 'a/b/c/up': '../../..' },
    { 'a/b/c/y': 'x' },
    { 'a/b/c/new/y': 'x' },
  ];
  for (const links of below) {
    const archive = await archiveOf({ z: '2' }, links);
    await expect(unpack([archive] as never, directory)).rejects.toThrow('through a link');
  }
  for (const name of ['a/b/c/y', 'a/b/c/new/y', 'a/b/c/new/deep/y']) {
    const file = await archiveOf({ [name]: '2' });
    await expect(unpack([file] as never, directory)).rejects.toThrow('through a link');
  }
  expect(await readdir(join(directory, 'top'))).toEqual(['x']);
  await unpack([await archiveOf({ file: '2' })] as never, directory);
  expect(await readFile(join(directory, 'top/x'), 'utf8')).toBe('1');
  expect(await readFile(join(directory, 'file'), 'utf8')).toBe('2');
});

it('leaves an earlier file as it was when a later one of its name cannot be written', async () => {
  await unpack([await archiveOf({ a: 'old' })] as never, home);
  const whole = await archiveOf({ a: 'x'.repeat(1 << 20) });
  const cut = whole.subarray(0, whole.length - 600);
  await expect(unpack([cut] as never, home)).rejects.toThrow();
  expect(await readFile(join(home, 'a'), 'utf8')).toBe('old');
  expect(await readdir(home)).toEqual(['a']);
  const long = 'n'.repeat(300);
  const refused = unpack([await archiveOf({ [long]: '1' })] as never, home);
  await expect(refused).rejects.toThrow(`${join(home, long)} cannot be written (ENAMETOOLONG)`);
});

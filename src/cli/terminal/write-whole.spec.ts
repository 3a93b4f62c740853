import {
  chmod,
  link,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { writeWhole } from './write-whole.js';

const FULL = Object.assign(new Error('write'), { code: 'ENOSPC' });
const CUT = new Error('the service is gone');

describe('writeWhole', () => {
  let home: string;
  let file: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'grid-whole-'));
    file = join(home, 'file');
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const put = (text: string, error?: Error, options = {}): Promise<void> => {
    const pieces = function* (): Generator<string> {
      yield text;
      if (error) throw error;
    };
    return writeWhole(file, (output) => pipeline(Readable.from(pieces()), output), options);
  };

  it('writes a file, and a new one in its place with the same rights', async () => {
    await put('one', undefined, { mode: 0o600 });
    await put('two');
    expect(await readFile(file, 'utf8')).toBe('two');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(home)).toEqual(['file']);
  });

  it.each([
    [FULL, 'cannot be written (ENOSPC); what was there is as it was'],
    [CUT, CUT.message],
  ])('leaves what was there and no part when it fails: %s', async (error, words) => {
    await writeFile(file, 'old');
    await expect(put('new', error)).rejects.toThrow(words);
    expect(await readFile(file, 'utf8')).toBe('old');
    expect(await readdir(home)).toEqual(['file']);
  });

  it('leaves nothing where nothing was', async () => {
    await expect(put('new', FULL)).rejects.toThrow(`${file} cannot be written (ENOSPC)`);
    await expect(put('new', FULL, { isNew: true })).rejects.toThrow(
      `${file} cannot be written (ENOSPC)`,
    );
    expect(await readdir(home)).toEqual([]);
  });

  it('replaces no file when it is to be new', async () => {
    await writeFile(file, 'old');
    await expect(put('new', undefined, { isNew: true })).rejects.toMatchObject({
      message: `${file} cannot be written (EEXIST)`,
      exitCode: 2,
    });
    expect(await readFile(file, 'utf8')).toBe('old');
  });

  it('writes through a link, and into a device', async () => {
    await writeFile(join(home, 'target'), 'old');
    await symlink('target', file);
    await put('new');
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect(await readFile(join(home, 'target'), 'utf8')).toBe('new');
    file = '/dev/full';
    await expect(put('x')).rejects.toThrow('/dev/full cannot be written (ENOSPC)');
    expect((await stat(file)).isCharacterDevice()).toBe(true);
  });

  it('makes the target of a link that leads to nothing', async () => {
    await symlink('target', file);
    await put('new');
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect(await readFile(join(home, 'target'), 'utf8')).toBe('new');
  });

  it('writes a file with several names in its place', async () => {
    await writeFile(file, 'old');
    await link(file, join(home, 'other'));
    await put('new');
    expect(await readFile(join(home, 'other'), 'utf8')).toBe('new');
  });

  it('keeps rights that a new file would not get', async () => {
    await writeFile(file, 'old');
    await chmod(file, 0o666);
    const before = process.umask(0o077);
    await put('new').finally(() => process.umask(before));
    expect((await stat(file)).mode & 0o777).toBe(0o666);
  });

  it('gives a new file its name when it is whole', async () => {
    const names: string[][] = [];
    await writeWhole(
      file,
      (output) =>
        pipeline(
          Readable.from(
            (async function* () {
              yield 'new';
              names.push(await readdir(home));
            })(),
          ),
          output,
        ),
      { isNew: true },
    );
    expect(names).toEqual([[expect.stringMatching(/^\.gridgate-.*\.part$/)]]);
    expect(await readdir(home)).toEqual(['file']);
  });

  it('says which file has no place', async () => {
    file = join(home, 'no', 'where');
    await expect(put('x')).rejects.toThrow(`${file} cannot be written (ENOENT)`);
    file = home;
    await expect(put('x')).rejects.toThrow(`${home} cannot be written (EISDIR)`);
  });
});

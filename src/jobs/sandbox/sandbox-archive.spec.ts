import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { SmallDisk } from '../../../test/support/full-disk/small-disk.js';
import { copyFileOfArchive, packArchive, unpackArchive } from './sandbox-archive.js';

describe('sandbox archives', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'archive-'));
  });

  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  const small = (name: string, text: string) => ({
    name,
    sizeBytes: Buffer.byteLength(text),
    content: Buffer.from(text),
  });

  const packed = async (files: Parameters<typeof packArchive>[0]): Promise<Buffer> => {
    const archive = await packArchive(files, directory);
    return 'content' in archive ? archive.content : readFile(archive.path);
  };

  it.each([
    '1969-12-31T00:00:00Z',
    '1950-01-01T00:00:00Z',
    '1970-01-01T00:00:00Z',
    '2038-01-19T03:14:07Z',
    '2038-01-19T03:14:08Z',
    '2040-02-29T12:00:00Z',
    '2300-01-01T00:00:00Z',
  ])('keeps the time %s, and the file behind it', async (time) => {
    const path = join(directory, 'times.tar.gz');
    const files = [{ ...small('old', 'a'), modifiedAt: new Date(time) }, small('new', 'b')];
    await writeFile(path, await packed(files));
    execFileSync('tar', ['xzf', path], { cwd: directory });
    expect((await stat(join(directory, 'old'))).mtimeMs).toBe(Date.parse(time));
    expect(await readFile(join(directory, 'new'), 'utf8')).toBe('b');
    await mkdir(join(directory, 'own'));
    await unpackArchive(createReadStream(path), join(directory, 'own'), { maxBytes: 10 });
    expect(await readFile(join(directory, 'own', 'old'), 'utf8')).toBe('a');
  });

  // 120,000 bytes end with ENOSPC whatever is done with what a write answers; the last piece of 105,000 fits in part.
  (SmallDisk.isPossible() ? it : it.skip).each([102_401, 105_000, 120_000, 200_000])(
    'fails for %d bytes where 102,400 have room',
    async (size) => {
      const disk = SmallDisk.mount(join(directory, 'small'), 102_400);
      try {
        const path = join(directory, 'large.tar.gz');
        const content = randomBytes(size);
        await writeFile(path, await packed([{ name: 'large', sizeBytes: size, content }]));
        const unpacked = unpackArchive(createReadStream(path), disk.path, { maxBytes: size });
        await expect(unpacked).rejects.toMatchObject({ code: 'ENOSPC' });
      } finally {
        disk.unmount();
      }
    },
  );

  it('gives others their turns while it packs very many empty files', async () => {
    let turn = 0;
    const pass = (): void => {
      turn += 1;
      next = setImmediate(pass);
    };
    let next = setImmediate(pass);
    const perTurn = new Map<number, number>();
    const files = Array.from({ length: 1_000 }, (_, index) => ({
      ...small(`file-${index}`, ''),
      get content() {
        perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1);
        return Buffer.alloc(0);
      },
    }));
    const packed = await packArchive(files, join(directory, 'spool'));
    clearImmediate(next);
    expect(Math.max(...perTurn.values())).toBeLessThan(300);
    expect((await packArchive(files, join(directory, 'again'))).hash).toBe(packed.hash);
  });

  async function collected(
    source: Readable,
    name: string,
    range: { start: number; end: number },
  ): Promise<string> {
    const chunks: Buffer[] = [];
    const target = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        chunks.push(chunk);
        done();
      },
    });
    await copyFileOfArchive(source, name, target, range);
    return Buffer.concat(chunks).toString();
  }

  it('gives an archive that tar unpacks, long and accented names included', async () => {
    const long = `${'n'.repeat(180)}.txt`;
    const files = [small('é.txt', 'one'), small(long, 'two')];
    const archive = await packArchive(files, join(directory, 'spool'));
    if (!('content' in archive)) throw new Error('small archives stay in memory');
    await writeFile(join(directory, 'a.tar.gz'), archive.content);
    execFileSync('tar', ['xzf', 'a.tar.gz'], { cwd: directory });
    expect(await readFile(join(directory, 'é.txt'), 'utf8')).toBe('one');
    expect(await readFile(join(directory, long), 'utf8')).toBe('two');
  });

  it('gives equal bytes for equal files', async () => {
    const one = await packArchive([small('a', 'x')], join(directory, 'spool'));
    const two = await packArchive([small('a', 'x')], join(directory, 'spool'));
    expect(two.hash).toBe(one.hash);
  });

  it('streams large files through the spool', async () => {
    const path = join(directory, 'big');
    await writeFile(path, Buffer.alloc(3_000_000, 'abc'));
    const spool = join(directory, 'spool');
    const archive = await packArchive(
      [{ name: 'big', sizeBytes: 3_000_000, content: { path } }],
      spool,
    );
    expect(archive).toMatchObject({ path: spool, sizeBytes: (await stat(spool)).size });
    const range = { start: 2_999_997, end: 2_999_999 };
    expect(await collected(createReadStream(spool), 'big', range)).toBe('abc');
  });

  it('unpacks only plain files, with the mode that the archive says', async () => {
    const archive = await packArchive(
      [{ ...small('run.sh', 'true'), isExecutable: true }, small('d/x', 'deep')],
      join(directory, 'spool'),
    );
    const content = 'content' in archive ? archive.content : Buffer.alloc(0);
    await unpackArchive(Readable.from([content]), directory, { maxBytes: 1000 });
    expect((await stat(join(directory, 'run.sh'))).mode & 0o111).toBe(0o111);
    expect(await readFile(join(directory, 'd/x'), 'utf8')).toBe('deep');
  });

  it.each([
    ['a path that leaves the directory', { name: '../x', type: 'file' }],
    ['an absolute path', { name: '/x', type: 'file' }],
    ['a symbolic link', { name: 'x', type: 'symlink', linkname: '/etc/passwd' }],
    ['a hard link', { name: 'x', type: 'link', linkname: '/etc/passwd' }],
    ['a device', { name: 'x', type: 'character-device' }],
  ] as const)('refuses %s', async (_what, header) => {
    const tar = pack();
    if (header.type === 'file') tar.entry(header, 'evil');
    else tar.entry(header);
    tar.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of tar as AsyncIterable<Buffer>) chunks.push(chunk);
    const source = Readable.from([gzipSync(Buffer.concat(chunks))]);
    await expect(unpackArchive(source, directory, { maxBytes: 1000 })).rejects.toThrow('bad entry');
  });

  it('refuses more bytes than allowed before writing them', async () => {
    const archive = await packArchive([small('bomb', 'x'.repeat(5000))], join(directory, 'spool'));
    const content = 'content' in archive ? archive.content : Buffer.alloc(0);
    const unpacking = unpackArchive(Readable.from([content]), directory, { maxBytes: 1000 });
    await expect(unpacking).rejects.toThrow('more than 1000 bytes');
  });

  it.each([0, 30])('says that an archive is damaged of which %i bytes are left', async (left) => {
    const archive = await packArchive([small('a', 'first')], 'unused');
    const content = 'content' in archive ? archive.content.subarray(0, left) : Buffer.alloc(0);
    const unpacking = unpackArchive(Readable.from([content]), directory, { maxBytes: 1000 });
    await expect(unpacking).rejects.toThrow(
      'a sandbox is damaged: its bytes are not those that were kept',
    );
  });

  it('hands out one file or a part of it', async () => {
    const archive = await packArchive([small('a', 'first'), small('b', 'second')], 'unused');
    const content = 'content' in archive ? archive.content : Buffer.alloc(0);
    const source = (): Readable => Readable.from([content]);
    expect(await collected(source(), 'b', { start: 0, end: 5 })).toBe('second');
    expect(await collected(source(), 'b', { start: 2, end: 3 })).toBe('co');
    await expect(collected(source(), 'c', { start: 0, end: 5 })).rejects.toThrow(
      'a sandbox is damaged: it has not the file that was kept in it',
    );
  });
});

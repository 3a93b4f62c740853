import { execFileSync } from 'node:child_process';
import {
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync, gzipSync } from 'node:zlib';
import { Problem } from '#src/kernel/index.js';
import { repackArchive, type ArchiveLimits } from '../../src/jobs/sandbox/repack-archive.js';
import { describeWith, has } from '../support/missing.js';
import { listed, PYTHON_LIST } from '../support/archive-lists.js';

const LIMITS: ArchiveLimits = { maxBytes: 1_000_000, maxFiles: 1_000 };
const TOO_MUCH = 'has more than 1000000 bytes or 1000 files';
const NOT_WHOLE = 'is not a whole tar.gz';
const BELOW = 'has a file below one that is no directory';
const LEAVES = 'has a link that leaves it';
const TWICE = 'has a file twice';
const OUTSIDE = 'has a file whose name must be below the directory of the job';
const NUL = 'has a file whose name contains NUL';
const ODD = 'has a file whose name is odd';

/** What stands in a header, where it is not that of an empty file. */
interface Head {
  name: string | Buffer;
  type?: string;
  size?: number | Buffer;
  linkname?: string;
  mtime?: Buffer;
  magic?: string;
}

const octal = (value: number, length: number): string =>
  `${value.toString(8).padStart(length - 1, '0')}\0`;

function headerOf({ name, type = '0', size = 0, linkname = '', mtime, magic }: Head): Buffer {
  const block = Buffer.alloc(512);
  block.set(Buffer.from(name).subarray(0, 100), 0);
  block.write(octal(0o644, 8) + octal(0, 8) + octal(0, 8), 100);
  block.set(typeof size === 'number' ? Buffer.from(octal(size, 12)) : size, 124);
  block.set(mtime ?? Buffer.from(octal(0, 12)), 136);
  block.write(`        ${type}${linkname}`, 148);
  block.write(magic ?? 'ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)} `, 148);
  return block;
}

const filled = (data: string | Buffer): Buffer => {
  const bytes = Buffer.from(data);
  return Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
};
const entry = (head: Head, data = ''): Buffer =>
  Buffer.concat([headerOf({ size: Buffer.byteLength(data), ...head }), filled(data)]);
const record = (key: string, value: string): string => {
  const rest = ` ${key}=${value}\n`;
  const length = Buffer.byteLength(rest);
  const digits = String(length + String(length).length).length;
  return `${length + digits}${rest}`;
};
const pax = (records: Record<string, string>, type = 'x'): Buffer =>
  entry(
    { name: 'pax', type },
    Object.entries(records)
      .map(([k, v]) => record(k, v))
      .join(''),
  );
const END = Buffer.alloc(1024);
const zipped = (...parts: Buffer[]): Buffer => gzipSync(Buffer.concat([...parts, END]));
/** A number of base 256, as GNU tar writes large and negative ones. */
const base256 = (first: number, ...rest: number[]): Buffer =>
  Buffer.from([first, ...Array<number>(11 - rest.length).fill(first === 0xff ? 0xff : 0), ...rest]);

describeWith({ met: has('python3') && has('tar'), name: 'python3 and GNU tar' })(
  'the archive of a stranger, packed anew',
  () => {
    let directory: string;
    let spool: string;

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'repack-'));
      await mkdir(join(directory, 'spool'));
      spool = join(directory, 'spool', 'archive');
    });

    // Nothing is open any more, whatever came of it; what was refused leaves no file that is made later.
    afterEach(async () => {
      expect(await openFiles()).toEqual([]);
      await rm(directory, { recursive: true });
    });

    const openFiles = async (): Promise<string[]> => {
      const links = (await readdir('/proc/self/fd')).map((fd) =>
        readlink(`/proc/self/fd/${fd}`).catch(() => ''),
      );
      return (await Promise.all(links)).filter((path) => path.startsWith(directory));
    };

    /** Names and what is in small files, after a look by both programs that what was answered is what was packed. */
    const kept = async (source: Readable | Buffer, limits = LIMITS): Promise<string[]> => {
      const stream = Buffer.isBuffer(source) ? Readable.from([source]) : source;
      const { archive, files } = await repackArchive(stream, limits, spool);
      expect(archive).toMatchObject({ path: spool, sizeBytes: (await readFile(spool)).length });
      const options = { encoding: 'utf8', maxBuffer: 100_000_000 } as const;
      const names = execFileSync('tar', ['--quoting-style=literal', '-tzf', spool], options);
      expect(names).toBe(files.map((file) => `${listed(file)[0]}\n`).join(''));
      const seen = JSON.parse(
        execFileSync('python3', ['-c', PYTHON_LIST, spool], options),
      ) as unknown[][];
      expect(seen.map((one) => one.slice(0, 4))).toEqual(files.map((file) => listed(file)[1]));
      return seen.map(([name, kind, , target, text]) =>
        kind === 'file' ? `${String(name)}=${String(text)}` : `${String(name)}>${String(target)}`,
      );
    };
    const refusalOf = async (source: Readable | Buffer, limits = LIMITS): Promise<unknown> => {
      const stream = Buffer.isBuffer(source) ? Readable.from([source]) : source;
      const fault: unknown = await repackArchive(stream, limits, spool).catch((e: unknown) => e);
      expect(fault).toBeInstanceOf(Problem);
      const {
        status,
        code,
        violations = [],
      } = fault as Problem & { violations?: { problem: string }[] };
      expect([status, code, stream.destroyed]).toEqual([400, 'request.invalid', true]);
      await rm(spool, { force: true });
      expect(await readdir(join(directory, 'spool'))).toEqual([]);
      return violations[0]?.problem;
    };

    describe.each(['gnu', 'pax', 'ustar'])('made by GNU tar as %s', (format) => {
      const packed = (...words: string[]): Buffer =>
        execFileSync('tar', [`--format=${format}`, '-cz', '-C', join(directory, 'in'), ...words], {
          stdio: ['ignore', 'pipe', 'ignore'],
        });
      beforeEach(async () => {
        await mkdir(join(directory, 'in', 'd', 'empty'), { recursive: true });
        await writeFile(join(directory, 'in', 'a'), 'first');
        await writeFile(join(directory, 'in', 'd', 'ü b'), 'second');
        await symlink('../a', join(directory, 'in', 'd', 'l'));
      });

      it('keeps files, directories and links that stay', async () => {
        const names = ['a', 'd/empty', 'd/ü b', 'd/l', 'd'];
        expect(await kept(packed('--no-recursion', ...names))).toEqual([
          ...['a=first', 'd/empty>', 'd/ü b=second', 'd/l>../a', 'd>'],
        ]);
      });

      it('keeps long names, and refuses them in another spelling', async () => {
        const long = `${'x'.repeat(90)}/${'y'.repeat(90)}`;
        await mkdir(join(directory, 'in', posix.dirname(long)));
        await writeFile(join(directory, 'in', long), 'deep');
        expect(await kept(packed(long))).toEqual([`${long}=deep`]);
        expect(await refusalOf(packed('./a'))).toBe(ODD);
        expect(await refusalOf(packed('.'))).toBe(ODD);
      });

      it.each<[string, string]>([
        ['ln a h', 'has a special file (link)'],
        ['mkfifo h', 'has a special file (fifo)'],
        ['ln -s / h', LEAVES],
        ['ln -s ../in/a h', LEAVES],
      ])('refuses %s', async (command, problem) => {
        execFileSync('sh', ['-c', `cd ${join(directory, 'in')} && ${command}`]);
        const name =
          (await readdir(join(directory, 'in'))).find((one) => one.startsWith('h')) ?? '';
        expect(await refusalOf(packed('a', name))).toBe(problem);
      });

      it('keeps names with a newline and a backslash', async () => {
        for (const name of ['h\nx', 'h\\']) await writeFile(join(directory, 'in', name), 'h');
        expect(await kept(packed('h\nx', 'h\\'))).toEqual(['h\nx=h', 'h\\=h']);
      });

      it('refuses sparse files, and keeps them whole where the format has none', async () => {
        await writeFile(join(directory, 'in', 'h'), '');
        await truncate(join(directory, 'in', 'h'), 300_000);
        if (format === 'ustar') expect(await kept(packed('h'))).toEqual(['h=']);
        else {
          const archive = packed('-S', 'h');
          const problem =
            format === 'gnu' ? 'has a special file (of another kind)' : 'has a sparse file';
          expect(await refusalOf(archive)).toBe(problem);
        }
      });
    });

    it.each(['GNU', 'PAX', 'USTAR'])('keeps what Python makes as %s', async (format) => {
      const script = `
import io, sys, tarfile
with tarfile.open(fileobj=sys.stdout.buffer, mode='w|gz', format=tarfile.${format}_FORMAT) as archive:
    one = tarfile.TarInfo('d/é'); one.size = 3; one.mtime = 1700000000.5 if '${format}' == 'PAX' else 1
    archive.addfile(one, io.BytesIO(b'abc'))
    two = tarfile.TarInfo('l'); two.type = tarfile.SYMTYPE; two.linkname = 'd/é'
    archive.addfile(two)`;
      expect(await kept(execFileSync('python3', ['-c', script]))).toEqual(['d/é=abc', 'l>d/é']);
    });

    it('keeps pax records that say other names and sizes than the header, and reads on behind them', async () => {
      const archive = zipped(
        pax({ path: 'global' }, 'g'),
        entry({ name: 'plain' }, 'one'),
        pax({ path: 'd/other', size: '3' }),
        headerOf({ name: '../x', size: 9_999 }),
        filled('two'),
        entry({ name: 'last' }, 'three'),
      );
      expect(await kept(archive)).toEqual(['plain=one', 'd/other=two', 'last=three']);
    });

    const up = { name: 'd/l', type: '2', linkname: '..' };
    it.each<[string, Buffer[], string]>([
      ['a name with ..', [entry({ name: 'd/../../x' })], OUTSIDE],
      ['.. alone', [entry({ name: '..' })], OUTSIDE],
      ['an absolute name', [entry({ name: '/etc/x' })], OUTSIDE],
      ['an absolute name by pax', [pax({ path: '/x' }), entry({ name: 'x' })], OUTSIDE],
      [
        '.. by a long name of GNU',
        [entry({ name: 'n', type: 'L' }, '../x\0'), entry({ name: 'x' })],
        OUTSIDE,
      ],
      ['. as a file', [entry({ name: '.' })], ODD],
      ['. as a link', [entry({ name: '.', type: '2', linkname: 'x' })], ODD],
      ['no name', [entry({ name: '' })], 'has a file whose name is empty'],
      ['two slashes', [entry({ name: 'a//b' })], 'has a file whose name is empty'],
      ['NUL by pax', [pax({ path: 'a\0b' }), entry({ name: 'x' })], NUL],
      [
        'a very long name',
        [pax({ path: 'a/'.repeat(1_000_000) + 'x' }), entry({ name: 'x' })],
        'has a file whose name is longer than 4096 bytes',
      ],
      [
        'a very deep name',
        [pax({ path: 'a/'.repeat(100) + 'x' }), entry({ name: 'x' })],
        'has a file whose name is deeper than 100 directories',
      ],
      ['a name twice', [entry({ name: 'x' }), entry({ name: 'x' }, 'y')], TWICE],
      ['a directory and a file', [entry({ name: 'x/', type: '5' }), entry({ name: 'x' })], TWICE],
      [
        'two names that are the same without UTF-8',
        [0xfe, 0xff].map((byte) => entry({ name: Buffer.from([byte]) })),
        TWICE,
      ],
      ['a file below a file', [entry({ name: 'x' }), entry({ name: 'x/y' })], BELOW],
      ['a file below a link', [entry(up), entry({ name: 'd/l/y' })], BELOW],
      ['a file far below a link', [entry(up), entry({ name: 'd/l/y/z' })], BELOW],
      ['a file where one lies below', [entry({ name: 'x/y/z' }), entry({ name: 'x' })], BELOW],
      ['a link where one lies below', [entry({ name: 'd/l/y' }), entry(up)], BELOW],
      ['a link that leaves', [entry({ name: 'd/l', type: '2', linkname: '../../x' })], LEAVES],
      ['an absolute link', [entry({ name: 'l', type: '2', linkname: '/etc' })], LEAVES],
      [
        'a link by pax',
        [pax({ linkpath: '../x' }), entry({ name: 'l', type: '2', linkname: 'y' })],
        LEAVES,
      ],
      ['a link to nothing', [entry({ name: 'l', type: '2' })], LEAVES],
      [
        'a hard link',
        [entry({ name: 'x' }), entry({ name: 'l', type: '1', linkname: 'x' })],
        'has a special file (link)',
      ],
      ['a device', [entry({ name: 'x', type: '3' })], 'has a special file (character-device)'],
      ['a disk', [entry({ name: 'x', type: '4' })], 'has a special file (block-device)'],
      ['a fifo', [entry({ name: 'x', type: '6' })], 'has a special file (fifo)'],
      [
        'a part of another volume',
        [entry({ name: 'x', type: 'M' })],
        'has a special file (of another kind)',
      ],
      ['more bytes than it has', [headerOf({ name: 'x', size: 5_000 })], NOT_WHOLE],
      ['more bytes by pax than it has', [pax({ size: '5000' }), entry({ name: 'x' })], NOT_WHOLE],
      ['a size by pax that is none', [pax({ size: 'much' }), entry({ name: 'x' })], NOT_WHOLE],
      ['a negative size by pax', [pax({ size: '-1' }), entry({ name: 'x' })], NOT_WHOLE],
      ['a negative size', [entry({ name: 'x', size: base256(0xff, 0xfe, 0x00) })], NOT_WHOLE],
      ['a huge size', [entry({ name: 'x', size: base256(0x80, 0x7f, 0, 0, 0, 0, 0) })], TOO_MUCH],
      [
        'a size beyond all numbers',
        [entry({ name: 'x', size: base256(0x80, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) })],
        'has a file whose size is no number',
      ],
      [
        'a size in no known form',
        [entry({ name: 'x', size: base256(0x81) }), entry({ name: 'y' })],
        'has a file whose size is no number',
      ],
      ['a wrong sum', [Buffer.from(entry({ name: 'x' })).fill('y', 0, 1)], NOT_WHOLE],
      ['no magic', [entry({ name: 'x', magic: '\0'.repeat(8) })], NOT_WHOLE],
      ['no tar', [Buffer.alloc(5_000, 'x')], NOT_WHOLE],
    ])('refuses %s', async (_what, parts, problem) => {
      expect(await refusalOf(zipped(...parts))).toBe(problem);
    });

    it('packs links by what they lead to, so that none leaves by way of another one', async () => {
      const archive = zipped(
        entry(up),
        entry({ name: 'x', type: '2', linkname: 'd/l/../y' }),
        entry({ name: 'self', type: '2', linkname: 'self' }),
        entry({ name: 'z', type: '2', linkname: 'nowhere/' }),
      );
      expect(await kept(archive)).toEqual(['d/l>..', 'x>d/y', 'self>self', 'z>nowhere']);
    });

    it('keeps names that are no UTF-8 as readers of text see them', async () => {
      expect(await kept(zipped(entry({ name: Buffer.from([0x61, 0xff]) })))).toEqual(['a\ufffd=']);
    });

    it('keeps files whose time is none', async () => {
      const [odd, late] = [base256(0x81), base256(0x80, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0)];
      const archive = zipped(
        entry({ name: 'x', mtime: odd }),
        entry({ name: 'y', mtime: late }, 'b'),
      );
      expect(await kept(archive)).toEqual(['x=', 'y=b']);
    });

    it('reads two members of gzip as one, and behind them nothing but zeros', async () => {
      const whole = Buffer.concat([entry({ name: 'x' }, 'one'), entry({ name: 'y' }, 'two'), END]);
      const halves = [gzipSync(whole.subarray(0, 700)), gzipSync(whole.subarray(700))];
      expect(await kept(Buffer.concat(halves))).toEqual(['x=one', 'y=two']);
      expect(await kept(Buffer.concat([...halves, Buffer.alloc(3_000)]))).toEqual([
        'x=one',
        'y=two',
      ]);
      const more = Buffer.concat([...halves, Buffer.from('more')]);
      expect(await refusalOf(more)).toBe(NOT_WHOLE);
    });

    it.each<[string, (whole: Buffer) => Buffer]>([
      ['is cut', (whole) => whole.subarray(0, -9)],
      ['is cut in a file', (whole) => whole.subarray(0, whole.length / 2)],
      ['has another check sum', (whole) => Buffer.concat([whole.subarray(0, -8), Buffer.alloc(8)])],
      ['is a tar without gzip', (whole) => gunzipSync(whole)],
      ['ends within a file', (whole) => gzipSync(gunzipSync(whole).subarray(0, 600))],
    ])('refuses what %s', async (_what, change) => {
      const text = Array.from({ length: 5_000 }, (_, number) => number * number).join(' ');
      expect(await refusalOf(change(zipped(entry({ name: 'x' }, text))))).toBe(NOT_WHOLE);
    });

    /** 1 GiB of zeros behind `before` (and again and again that), as 1 MB of gzip; counts what was read of it. */
    const bomb = (before: Buffer, ...again: Buffer[]): { source: Readable; read: () => number } => {
      const gzip = createGzip({ level: 9 });
      const piece = Buffer.concat([...again, Buffer.alloc(4_194_304)]);
      let pieces = 0;
      function* bytes(): Generator<Buffer> {
        yield before;
        for (; pieces < 256; pieces += 1) yield piece;
      }
      pipeline(bytes, gzip).catch(() => undefined);
      return { source: gzip, read: () => pieces * piece.length };
    };

    it.each<[string, Buffer, Buffer[]]>([
      ['one file', headerOf({ name: 'x', size: 2 ** 30 }), []],
      ['the end', entry({ name: 'x' }), []],
      ['a link', headerOf({ name: 'x', type: '2', linkname: 'y', size: 2 ** 30 }), []],
      [
        'records of pax',
        entry({ name: 'x' }),
        [headerOf({ name: 'p', type: 'x', size: 4_194_304 })],
      ],
      ['long names', entry({ name: 'x' }), [headerOf({ name: 'p', type: 'L', size: 4_194_304 })]],
    ])('refuses a bomb in %s early, and keeps little of it', async (_what, before, again) => {
      const { source, read } = bomb(before, ...again);
      const rss = process.memoryUsage().rss;
      expect(await refusalOf(source)).toBe(TOO_MUCH);
      // Gzip holds some; a piece is 4 MiB.
      expect(read()).toBeLessThan(100_000_000);
      expect(process.memoryUsage().rss - rss).toBeLessThan(200_000_000);
    });

    it('takes as many files and bytes as it may, and not one more', async () => {
      const many = (count: number): Buffer[] =>
        Array.from({ length: count }, (_, number) => entry({ name: `f${number}` }));
      expect(await kept(zipped(...many(100)), { maxBytes: 0, maxFiles: 100 })).toHaveLength(100);
      const limits = { maxBytes: 3, maxFiles: 2 };
      const problem = 'has more than 3 bytes or 2 files';
      expect(await refusalOf(zipped(...many(3)), limits)).toBe(problem);
      expect(await refusalOf(zipped(entry({ name: 'x' }, 'a'.repeat(2_000))), limits)).toBe(
        problem,
      );
    });

    it('packs 100,000 empty files in pieces', async () => {
      let turns = 0;
      const counting = setInterval(() => (turns += 1), 1);
      function* files(): Generator<Buffer> {
        for (let number = 0; number < 100_000; number += 1000) {
          yield Buffer.concat(
            Array.from({ length: 1000 }, (_, place) => entry({ name: `f${number + place}` })),
          );
        }
        yield END;
      }
      const source = createGzip({ level: 1 });
      pipeline(files, source).catch(() => undefined);
      expect(await kept(source, { maxBytes: 1_000, maxFiles: 100_000 })).toHaveLength(100_000);
      clearInterval(counting);
      expect(turns).toBeGreaterThan(20);
    }, 120_000);

    it.each([undefined, Object.assign(new Error('the client has gone'), { code: 'ECONNRESET' })])(
      'ends when its stream is destroyed with %s, and that is no fault of the archive',
      async (reason) => {
        const source = new PassThrough();
        const text = Array.from({ length: 5_000 }, (_, number) => number * number).join(' ');
        source.write(gzipSync(entry({ name: 'x' }, text)).subarray(0, 2_000));
        const work = repackArchive(source, LIMITS, spool).catch((fault: unknown) => fault);
        setImmediate(() => source.destroy(reason));
        const fault = await work;
        expect([typeof fault, fault instanceof Problem]).toEqual(['object', false]);
      },
    );

    it('tells a fault of the machine as it is', async () => {
      const source = Readable.from([zipped(entry({ name: 'x' }, 'a'))]);
      const work = repackArchive(source, LIMITS, join(directory, 'none', 'archive'));
      await expect(work).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
    });
  },
);

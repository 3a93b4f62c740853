import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { matchesPattern } from './name-pattern.js';
import { collectOutput, type Collected, type CollectWish } from './output-collector.js';
import type { OutputPlaces } from './output-places.js';

describe('collectOutput', () => {
  let directory: string;
  const limits = { maxBytes: 1000, maxFiles: 10, maxFileBytes: 100_000_000 };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'collect-'));
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  const write = (name: string, text = 'x'): void => writeFileSync(join(directory, name), text);
  const collect = async (
    wanted: string[],
    { uid, seenAs, files, ...more }: Partial<OutputPlaces & CollectWish> = {},
  ): Promise<Collected> => {
    const account = uid ?? process.getuid?.();
    const places = { directory, files: files ?? new Map<string, string>(), uid: account };
    const wish = { wanted, inputs: [], fetched: [], ...limits, ...more };
    return collectOutput({ ...places, ...(seenAs === undefined ? {} : { seenAs }) }, wish);
  };
  const names = async (...args: Parameters<typeof collect>) => {
    const { files, missing, leftOut, isCut } = await collect(...args);
    return {
      files: files.map(({ name, content }) =>
        'linkTo' in content
          ? `${name} -> ${content.linkTo}`
          : 'isDirectory' in content
            ? `${name}/`
            : name,
      ),
      missing,
      leftOut: leftOut.map(({ name, reason }) => `${name}: ${reason}`),
      ...(isCut ? { isCut } : {}),
    };
  };

  it('takes files, directories and patterns, each file once', async () => {
    mkdirSync(join(directory, 'd/e'), { recursive: true });
    for (const name of ['a.log', 'b.log', 'd/1', 'd/e/2', '.hidden']) write(name);
    expect(await names(['a.log', '*.log', 'd/', './d/e/?'])).toEqual({
      files: ['a.log', 'b.log', 'd/1', 'd/e/2'],
      missing: [],
      leftOut: [],
    });
  });

  it('brings empty directories, asked for or below what was, and what links lead to', async () => {
    for (const name of ['empty', 'out/none', 'out/some', 'aside']) {
      mkdirSync(join(directory, name), { recursive: true });
    }
    write('out/some/x');
    symlinkSync('../aside', join(directory, 'out/link'));
    expect(await names(['empty', 'out', 'e*'])).toEqual({
      files: ['empty/', 'out/link -> aside', 'out/none/', 'out/some/x', 'aside/'],
      missing: [],
      leftOut: [],
    });
  });

  it.each(['.', './', './.'])(
    'brings the whole directory for %j, hidden files and the streams too',
    async (whole) => {
      mkdirSync(join(directory, 'd/e'), { recursive: true });
      for (const name of ['.hidden', 'd/x', 'stream']) write(name);
      const files = new Map([['std.out', join(directory, 'stream')]]);
      expect((await names([whole], { files })).files).toEqual([
        ...['.hidden', 'd/e/', 'd/x', 'std.out', 'stream'],
      ]);
      expect((await collect([whole], { files })).notRequested).toEqual({ names: [], count: 0 });
    },
  );

  it('names a file of the job whose name its standard output has taken, unless it is the same', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'streams-'));
    const files = new Map(['a', 'b', 'c', 'd', 'e'].map((name) => [name, join(outside, name)]));
    for (const [name, path] of files) writeFileSync(path, `printed ${name}`);
    write('a', 'printed a'); // by tee
    write('b', 'written b');
    write('c', '');
    mkdirSync(join(directory, 'd'));
    const { files: found, leftOut } = await names(['*', 'e'], { files });
    rmSync(outside, { recursive: true });
    const reason =
      'the job has written a file of this name itself, and what it prints has the name: let StdOutput or StdError name another file';
    expect([found, leftOut]).toEqual([
      ['a', 'b', 'c', 'd', 'e'],
      [`b: ${reason}`, `d: ${reason}`],
    ]);
  });

  it('brings links that stay in the directory, with what they lead to, and names the others', async () => {
    mkdirSync(join(directory, 'out'));
    mkdirSync(join(directory, 'more/deep'), { recursive: true });
    write('out/run_42');
    write('more/deep/x');
    write('real');
    const links = {
      'out/latest': 'run_42',
      'out/chain': 'latest',
      'out/above': '../real',
      'out/more': '../more/deep/../deep',
      'out/seen': '/work/real',
      'out/whole': join(directory, 'out/run_42'),
      'out/self': '.',
      'out/gone': 'nowhere/at/all',
      'out/passwd': '/etc/passwd',
      'out/host': '../../../etc/passwd',
      'out/through': 'more/../../../../../etc/passwd',
      'out/loop': 'loop',
      'out/near': '/workspace/real',
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(directory, name));
    expect(await names(['out'], { seenAs: '/work', maxFiles: 20 })).toEqual({
      files: [
        'out/above -> real',
        'out/chain -> out/run_42',
        'out/gone -> out/nowhere/at/all',
        'out/latest -> out/run_42',
        'out/more -> more/deep',
        'out/run_42',
        'out/seen -> real',
        'out/self -> out',
        'out/whole -> out/run_42',
        'real',
        'more/deep/x',
      ],
      missing: [],
      leftOut: [
        'out/host: it is a link that leaves the directory',
        'out/loop: it is a link in a loop',
        'out/near: it is a link that leaves the directory',
        'out/passwd: it is a link that leaves the directory',
        'out/through: it is a link that leaves the directory',
      ],
    });
  });

  it('names special files and what is reached through a link', async () => {
    write('real');
    symlinkSync('/etc', join(directory, 'etc'));
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    expect(await names(['etc/passwd', 'etc/nothing*', 'pipe', 'real', '*'])).toEqual({
      files: ['real'],
      missing: ['etc/nothing*'],
      leftOut: [
        'etc/passwd: it is reached through a link: ask for it by its own path',
        'pipe: it is not a plain file',
        'etc: it is a link that leaves the directory',
      ],
    });
  });

  const isRoot = process.getuid?.() === 0; // who can read everything
  (isRoot ? it.skip : it)('names files and directories that are closed to everybody', async () => {
    mkdirSync(join(directory, 'd/e'), { recursive: true });
    write('d/e/x');
    write('shut');
    chmodSync(join(directory, 'shut'), 0);
    chmodSync(join(directory, 'd/e'), 0);
    const { files, leftOut } = await names(['d', 'shut']);
    chmodSync(join(directory, 'd/e'), 0o700);
    expect([files, leftOut]).toEqual([[], ['d/e: it cannot be read', 'shut: it cannot be read']]);
  });

  it('names what has a name that is no UTF-8, in directories and by patterns', async () => {
    const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
    const at = (name: string): Buffer => Buffer.concat([Buffer.from(`${directory}/`), bytes(name)]);
    mkdirSync(join(directory, 'out'));
    for (const name of ['out/gr\u00fcn.txt', 'out/\u00ff', 'b\u00e4d.log'])
      writeFileSync(at(name), 'x');
    mkdirSync(at('out/d\u00fcr'));
    write('out/gut');
    write('out/grün', 'x');
    expect(await names(['out', '*.log'])).toEqual({
      files: ['out/grün', 'out/gut'],
      missing: [],
      leftOut: ['out/\\xFF', 'out/d\\xFCr', 'out/gr\\xFCn.txt', 'b\\xE4d.log'].map(
        (name) => `${name}: its name is not UTF-8`,
      ),
    });
  });

  it('names what the job has made and nobody has asked for, without its input, hidden and empty files', async () => {
    mkdirSync(join(directory, 'd/.git'), { recursive: true });
    mkdirSync(join(directory, '__pycache__'));
    for (const name of ['plot.svg', 'd/x', 'd/.git/x', '__pycache__/m.pyc', '.cache', 'in.py']) {
      write(name);
    }
    write('lock', '');
    write('wanted');
    symlinkSync('wanted', join(directory, 'link'));
    const wish = { inputs: ['in.py'], files: new Map([['std.out', join(directory, 'lock')]]) };
    expect((await collect(['wanted'], wish)).notRequested).toEqual({
      names: ['plot.svg', 'd/x'],
      count: 2,
    });
    for (let index = 0; index < 200; index += 1) write(`n${index}`);
    const { notRequested } = await collect(['wanted', 'd', 'plot.svg'], wish);
    expect([notRequested.names.length, notRequested.count]).toEqual([100, 200]);
  });

  it('reads large files when they are packed, more than a process may open, and no other in their place', async () => {
    write('large', 'x'.repeat(100_000));
    const read = async (): Promise<number> => {
      const { files } = await collect(['large'], { maxBytes: 1_000_000 });
      renameSync(join(directory, 'other'), join(directory, 'large'));
      const content = files[0]?.content as { stream: () => Readable };
      return (await buffer(content.stream())).length;
    };
    linkSync(join(directory, 'large'), join(directory, 'other')); // a rename to itself changes nothing
    expect(await read()).toBe(100_000);
    rmSync(join(directory, 'other'));
    write('other', 'y'.repeat(100_000));
    await expect(read()).rejects.toThrow('was exchanged');
  });

  it('knows names that cannot be: below a file, too long, in a loop of links', async () => {
    write('file');
    symlinkSync('loop', join(directory, 'loop'));
    const long = 'd/'.repeat(3_000) + 'x';
    const wanted = ['file/x', long, `${long}*`, 'file/*', 'loop/*', 'loop/x', 'file'];
    expect(await names(wanted)).toEqual({
      files: ['file'],
      missing: wanted.slice(0, -2),
      leftOut: ['loop/x: it is reached through a link: ask for it by its own path'],
    });
  });

  it('takes files with any name, and of a deep directory what is not too deep', async () => {
    const strange = ['a\nb', 'a\\b', ' ', '-rf', '\u202egnp.exe', 'é'.repeat(127)];
    for (const name of strange) write(name);
    mkdirSync(join(directory, 'd/'.repeat(40)), { recursive: true });
    write('d/d/near');
    write(`${'d/'.repeat(30)}far`);
    const { files, leftOut } = await names(['*']);
    expect(files.sort()).toEqual([...strange, 'd/d/near'].sort());
    const tooDeep = [`${'d/'.repeat(30)}far`, `${'d/'.repeat(39)}d`];
    expect(leftOut.sort()).toEqual(
      tooDeep.map((name) => `${name}: it is deeper than 16 directories`).sort(),
    );
  });

  it('leaves out what belongs to somebody else', async () => {
    write('mine');
    expect(await names(['mine'], { uid: 12345 })).toEqual({
      files: [],
      missing: [],
      leftOut: ['mine: it belongs to another account'],
    });
  });

  it('leaves out what does not fit, by bytes and by number', async () => {
    write('small');
    write('big', 'x'.repeat(2000));
    write('z');
    expect(await names(['big', 'small', 'z'])).toEqual({
      files: ['small', 'z'],
      missing: [],
      leftOut: ['big: the output is larger than 1000 bytes'],
    });
    expect((await names(['small', 'z'], { maxFiles: 1 })).leftOut).toEqual([
      'z: the output has more than 1 files',
    ]);
  });

  it('tells of a file that has the largest size that a job may write, since it was cut there', async () => {
    write('cut', 'x'.repeat(512));
    write('whole', 'x'.repeat(400));
    const { files, leftOut, excess } = await collect(['cut', 'whole'], { maxFileBytes: 512 });
    expect(files.map(({ name }) => name)).toEqual(['cut', 'whole']);
    const reason = 'a file was cut at 512 bytes';
    expect([leftOut, excess]).toEqual([[{ name: 'cut', reason }], reason]);
  });

  it('names what is missing', async () => {
    expect(await names(['none', '*.none'])).toEqual({
      files: [],
      missing: ['none', '*.none'],
      leftOut: [],
    });
  });

  it('takes the files that stand for names before anything of that name in the directory', async () => {
    symlinkSync('/etc/passwd', join(directory, 'std.out'));
    mkdirSync(join(directory, 'std.err'));
    const outside = mkdtempSync(join(tmpdir(), 'streams-'));
    writeFileSync(join(outside, 'out'), 'out');
    writeFileSync(join(outside, 'err'), '');
    const files = new Map([
      ['std.out', join(outside, 'out')],
      ['std.err', join(outside, 'err')],
    ]);
    const found = await collect(['*'], { uid: 12345, files });
    rmSync(outside, { recursive: true });
    const text = (content: unknown): string => (content as Buffer).toString('utf8');
    expect(found.files.map(({ name, content }) => [name, text(content)])).toEqual([
      ['std.err', ''],
      ['std.out', 'out'],
    ]);
  });

  it('orders what was asked for first first, and what one pattern finds by name', async () => {
    const wanted = Array.from({ length: 1_300 }, (_, index) => `f${(index * 7919) % 1_300}`);
    for (const name of [...wanted, 'std.out', 'std.err']) write(name, '');
    const { files } = await names(['std.out', 'std.err', 'f*'], { maxFiles: 2_000 });
    expect(files).toEqual(['std.out', 'std.err', ...wanted.sort()]);
  });

  it('looks at no more names than it may, and says so', async () => {
    for (const name of ['a', 'b', 'c', 'd']) write(name);
    const { files, isCut } = await names(['*'], { maxLookedAt: 3 });
    expect([files.length, isCut]).toEqual([3, true]);
  });
});

describe('matchesPattern', () => {
  it.each([
    ['a.log', '*.log', true],
    ['a.log', '?.log', true],
    ['ab.log', '?.log', false],
    ['.log', '*', false],
    ['.log', '.*', true],
    ['a+b', 'a+b', true],
    ['aab', 'a*b', true],
    ['é', '?', true],
  ])('%s against %s', (name, pattern, expected) => {
    expect(matchesPattern(name, pattern)).toBe(expected);
  });

  it('stays fast for patterns made to be slow', () => {
    expect(matchesPattern('a'.repeat(255), '*a'.repeat(120) + 'b')).toBe(false);
  });
});

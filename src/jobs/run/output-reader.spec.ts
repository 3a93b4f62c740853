import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { readOutput } from './output-reader.js';

/** An owner who exchanges the directory for the link, and back, as fast as it goes. */
const EXCHANGE = `
const { renameSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
const rename = (from, to) => renameSync(workerData + '/' + from, workerData + '/' + to);
parentPort.postMessage('begins');
for (;;) for (const [from, to] of [['d', 'kept'], ['link', 'd'], ['d', 'link'], ['kept', 'd']]) rename(from, to);
`;

describe('readOutput', () => {
  let directory: string;
  let elsewhere: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'read-'));
    elsewhere = mkdtempSync(join(tmpdir(), 'read-elsewhere-'));
    writeFileSync(join(elsewhere, 'file'), 'secret');
  });

  afterEach(() => {
    for (const path of [directory, elsewhere]) rmSync(path, { recursive: true });
  });

  const read = async (
    name: string,
    {
      start = 0,
      mostBytes = 100,
      uid = process.getuid?.(),
      files = new Map<string, string>(),
    } = {},
  ) => {
    const part = await readOutput({ directory, files, uid }, { name, start, mostBytes });
    return part && [part.content.toString(), part.start, part.sizeBytes];
  };

  it('reads a part from the beginning, from within and from the end', async () => {
    mkdirSync(join(directory, 'd/e'), { recursive: true });
    writeFileSync(join(directory, 'd/e/log'), '0123456789');
    expect(await read('d/e/log')).toEqual(['0123456789', 0, 10]);
    expect(await read('d/e/log', { start: 3, mostBytes: 4 })).toEqual(['3456', 3, 10]);
    expect(await read('d/e/log', { start: -4 })).toEqual(['6789', 6, 10]);
    expect(await read('d/e/log', { start: -40, mostBytes: 2 })).toEqual(['01', 0, 10]);
    expect(await read('d/e/log', { start: 40 })).toEqual(['', 40, 10]);
    expect(await read('d/e/log', { mostBytes: 0 })).toEqual(['', 0, 10]);
  });

  it('reads standard output where it lies, under the name that the job has given it', async () => {
    const files = new Map([['std.out', join(elsewhere, 'file')]]);
    expect(await read('std.out', { files })).toEqual(['secret', 0, 6]);
    expect(await read('file', { files })).toBeUndefined();
  });

  it('tells one file of a name from the next', async () => {
    const path = join(directory, 'log');
    const wish = { name: 'log', start: 0, mostBytes: 1 };
    const places = { directory, files: new Map(), uid: undefined };
    writeFileSync(path, 'one');
    const first = await readOutput(places, wish);
    writeFileSync(path, 'more', { flag: 'a' });
    expect((await readOutput(places, wish))?.file).toBe(first?.file);
    execFileSync('sh', ['-c', 'cp log new && mv new log'], { cwd: directory });
    expect((await readOutput(places, wish))?.file).not.toBe(first?.file);
  });

  it('passes over links, pipes, directories and files of others, and does not wait for any', async () => {
    writeFileSync(join(directory, 'own'), 'own');
    symlinkSync(join(elsewhere, 'file'), join(directory, 'link'));
    symlinkSync(elsewhere, join(directory, 'd'));
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    const names = ['link', 'd/file', 'd', 'pipe', 'own/below', 'none', '.', 'x'.repeat(300)];
    for (const name of names) expect([name, await read(name)]).toEqual([name, undefined]);
    expect(await read('own', { uid: 424242 })).toBeUndefined();
    expect(await read('own', { uid: undefined })).toEqual(['own', 0, 3]);
  });

  it.each(['../elsewhere', '/etc/passwd', 'd/../../x', ''])('knows no name %j', async (name) => {
    expect(await read(name)).toBeUndefined();
  });

  it('never follows a directory that its owner exchanges for a link meanwhile', async () => {
    mkdirSync(join(directory, 'd'));
    writeFileSync(join(directory, 'd/file'), 'harmless');
    symlinkSync(elsewhere, join(directory, 'link'));
    const owner = new Worker(EXCHANGE, { eval: true, workerData: directory });
    const found = new Set<unknown>();
    try {
      await once(owner, 'message');
      for (let time = 0; time < 300; time += 1) found.add((await read('d/file'))?.[0]);
      while (!found.has('harmless')) found.add((await read('d/file'))?.[0]);
    } finally {
      await owner.terminate();
    }
    expect([...found].filter((text) => text !== undefined)).toEqual(['harmless']);
  });
});

import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AnswerSpool, SpoolClosed } from './answer-spool.js';
import { SpoolSpace } from './spool-space.js';

const MEBIBYTE = 1024 * 1024;
const ROOM = 40 * MEBIBYTE;
const EVERYTHING = ROOM / 4;

let homePath: string;

const pieceOf = (number: number): string => `${number}:${'é'.repeat(number % 50_000)}\n`;

async function digestOf(spool: AnswerSpool): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of spool.read()) hash.update(piece);
  return hash.digest('hex');
}

describe('text on its way to a slow reader', () => {
  beforeEach(async () => {
    homePath = await mkdtemp(join(tmpdir(), 'gridgate-spool-'));
  });
  afterEach(() => rm(homePath, { recursive: true, force: true }));

  it('comes out as it went in, whether the reader is faster or slower than the writer', async () => {
    const space = new SpoolSpace({ homePath, answerSpool: 10 * ROOM });
    const spool = new AnswerSpool(space);
    const expected = createHash('sha256');
    const add = async (from: number, to: number): Promise<void> => {
      for (let number = from; number < to; number += 1) {
        expected.update(pieceOf(number));
        await spool.add(pieceOf(number));
      }
    };
    await add(0, 1_000); // about 1 MiB in memory
    await add(49_600, 50_000); // more than one file before the reader comes
    const digest = digestOf(spool);
    await add(49_900, 50_000); // while it reads
    spool.end();
    expect(await digest).toBe(expected.digest('hex'));
    await spool.close();
    space.reserve(10 * ROOM, -10 * ROOM);
  }, 60_000);

  it('stands in files without a name, and gives its room back', async () => {
    const space = new SpoolSpace({ homePath, answerSpool: ROOM });
    const spool = new AnswerSpool(space);
    for (let added = 0; added < 5; added += 1) await spool.add('x'.repeat(MEBIBYTE));
    expect(await readdir(join(homePath, 'answers'))).toEqual([]);
    expect(() => space.reserve(ROOM - 2 * MEBIBYTE, -ROOM)).toThrow('waits for readers');
    await spool.close();
    space.reserve(ROOM, -ROOM);
  });

  it('is refused beyond its part of the room, and beyond the room of all', async () => {
    const space = new SpoolSpace({ homePath, answerSpool: ROOM });
    const spool = new AnswerSpool(space);
    const fill = async (): Promise<void> => {
      for (let added = 0; added <= EVERYTHING; added += 2 * MEBIBYTE) {
        await spool.add('x'.repeat(2 * MEBIBYTE));
      }
    };
    await expect(fill()).rejects.toMatchObject({ status: 503, code: 'service.overloaded' });
    await spool.close();
    space.reserve(ROOM, -ROOM);
    const none = new AnswerSpool(space);
    await none.add('small answers need no room');
    await expect(none.add('x'.repeat(2 * MEBIBYTE))).rejects.toMatchObject({ status: 503 });
    await none.close();
  });

  it('ends for both sides when it is closed', async () => {
    const spool = new AnswerSpool(new SpoolSpace({ homePath, answerSpool: ROOM }));
    const digest = digestOf(spool);
    await spool.close();
    expect(await digest).toBe(createHash('sha256').digest('hex'));
    await expect(spool.add('late')).rejects.toThrow(SpoolClosed);
  });
});

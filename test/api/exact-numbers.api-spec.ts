import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, fetch as send } from 'undici';
import { encodePath, GridClient, readFileEntry } from '#src/client/index.js';
import { CommandUser, type Ended } from '../support/command.js';
import { startGrid, type Grid } from '../support/testbed.js';

/** Integers of 64 bits that no double holds. */
const VALUES = [
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
  '1234567890123456789',
  '1000000000000000001',
];
/** Any number of digits stands in a manifest. */
const DIGITS = [...VALUES, '12345678901234567890', '100000000000000000000000000000000000001'];

describe('integers beyond 2^53', () => {
  let grid: Grid;
  let home: string;
  let user: CommandUser;
  let agent: Agent;
  let client: GridClient;

  beforeAll(async () => {
    grid = await startGrid();
    home = await mkdtemp(join(tmpdir(), 'grid-exact-'));
    user = new CommandUser(home);
    await user.login(grid, 'fred');
    agent = new Agent({ connect: { ca: grid.ca } });
    const fetch = ((input: string, init: object) =>
      send(input, { ...init, dispatcher: agent })) as unknown as typeof globalThis.fetch;
    client = new GridClient({ url: grid.url, token: await grid.token('fred', 'grid_fc'), fetch });
    await client.declareField({ name: 'event', type: 'int' });
  });
  afterAll(async () => {
    await agent?.destroy();
    await grid?.remove();
    await rm(home, { recursive: true, force: true });
  });

  const gridgate = (...words: string[]): Promise<Ended> => user.run(words);
  const shown = (stdout: string): Ended => ({ code: 0, stdout, stderr: '' });

  it('keep all digits in the jobs that the command submits, and in each way to show them', async () => {
    const alice = new CommandUser(await mkdtemp(join(home, 'alice-')));
    await alice.login(grid);
    const text = `{"Executable":"/bin/true","Seeds":[${DIGITS.join(',')}],"Of":{"One":${DIGITS[0]}}}`;
    await writeFile(join(alice.home, 'job.json'), text);
    expect(await alice.run(['submit', 'job.json', '--dry-run', '-o', 'json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"valid": true'),
    });
    const jid = (await alice.run(['submit', 'job.json', '-o', 'name'])).stdout.trim();
    const [table, json, yaml] = await Promise.all(
      ['table', 'json', 'yaml'].map((format) => alice.run(['describe', jid, '-o', format])),
    );
    expect(table?.stdout).toContain(`  Seeds: [${DIGITS.join(',')}]\n`);
    expect(table?.stdout).toContain(`  Of.One: ${DIGITS[0]}\n`);
    const lines = (text = ''): string[] =>
      text.split('\n').map((line) => line.replace(/[\s,]/g, ''));
    expect(lines(json?.stdout)).toEqual(expect.arrayContaining(DIGITS));
    expect(lines(yaml?.stdout)).toEqual(expect.arrayContaining(DIGITS.map((one) => `-${one}`)));
    const fills = ['-e', '/bin/echo', '-a', '%(x)s', '--sweep', `x=${VALUES[0]},${VALUES[2]}`];
    expect(await alice.run(['submit', ...fills, '--dry-run'])).toMatchObject({ code: 0 });
  });

  it('are set as metadata by the command and by the client, and shown in each format', async () => {
    const set = VALUES.map(async (value) => {
      const path = `/vo/exact${value}`;
      await client.makeDirectory(encodePath(path));
      return gridgate('catalogue', 'meta', path, `event=${value}`, '-o', 'json');
    });
    expect(await Promise.all(set)).toEqual(
      VALUES.map((value) => shown(`{\n  "event": ${value}\n}\n`)),
    );
    const sorted = [...VALUES].sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1));
    const [table, json, yaml] = await Promise.all(
      ['table', 'json', 'yaml'].map((format) => gridgate('catalogue', 'meta', '/vo', '-o', format)),
    );
    expect(table?.stdout).toMatch(new RegExp(`^event +\\[${sorted.join(',')}\\]$`, 'm'));
    const lines = (text = ''): string[] =>
      text.split('\n').map((line) => line.replace(/[\s,]/g, ''));
    expect(lines(json?.stdout)).toEqual(expect.arrayContaining(sorted));
    expect(lines(yaml?.stdout)).toEqual(expect.arrayContaining(sorted.map((one) => `-${one}`)));
    for (const value of VALUES) {
      const path = encodePath(`/vo/exact${value}`);
      expect(await client.readDirectoryMetadata(path)).toEqual({ event: [BigInt(value)] });
      const event = BigInt(value) * -1n - 1n;
      const kept = BigInt(Number(event)) === event && Number.isSafeInteger(Number(event));
      expect(await client.mergeDirectoryMetadata(path, { event: event })).toEqual({
        event: kept ? Number(event) : event,
      });
    }
  });

  it('are sizes of files for the command, the client and lookups', async () => {
    const sizes = ['9007199254740993', '9223372036854775807'];
    for (const size of sizes) {
      const path = `/vo/exact-size-${size}`;
      const put = await gridgate('catalogue', 'put', path, '--size', size);
      expect(put).toEqual(shown(`${path} registered\n`));
      expect((await readFileEntry(client, path)).attributes.Size).toBe(BigInt(size));
      expect((await gridgate('catalogue', 'stat', path)).stdout).toContain(`Size: ${size}\n`);
    }
    const paths = sizes.map((size) => `/vo/exact-size-${size}`);
    await writeFile(join(home, 'paths'), paths.join('\n'));
    for (const format of ['table', 'json', 'yaml']) {
      const { stdout } = await gridgate('lookup', 'paths', '-o', format);
      expect(sizes.filter((size) => !new RegExp(`\\b${size}\\b`).test(stdout))).toEqual([]);
    }
    const beyond = await gridgate('catalogue', 'put', '/vo/x', '--size', '9223372036854775808');
    expect(beyond).toMatchObject({ code: 2, stdout: '' });
  });

  it('go as conditions of a search, as themselves', async () => {
    const path = '/vo/exact-found';
    await client.makeDirectory(encodePath(path));
    await client.mergeDirectoryMetadata(encodePath(path), { event: 9007199254740995n });
    const found: string[] = [];
    for await (const one of client.findDirectories('/vo', { event: '=|9007199254740995' }))
      found.push(one.path);
    expect(found).toEqual([path]);
  });

  it('are rounded only for who asks for JSON.parse', async () => {
    const { url } = client;
    const token = await grid.token('fred', 'grid_fc');
    const fetch = ((input: string, init: object) =>
      send(input, { ...init, dispatcher: agent })) as unknown as typeof globalThis.fetch;
    const rounding = new GridClient({ url, token, fetch, parse: JSON.parse });
    const path = encodePath('/vo/exact-found');
    expect(await rounding.readDirectoryMetadata(path)).toEqual({ event: [9007199254740996] });
  });
});

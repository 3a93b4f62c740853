import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, fetch as send } from 'undici';
import { encodePath, GridClient, readFileEntry } from '#src/client/index.js';
import { parseJson, type JsonObject } from '#src/kernel/index.js';
import { CommandUser, type Ended } from '../support/command.js';
import { startGrid, type Answer, type Grid } from '../support/testbed.js';

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

describe('numbers with decimals', () => {
  let grid: Grid;
  let home: string;
  let alice: CommandUser;

  beforeAll(async () => {
    grid = await startGrid();
    home = await mkdtemp(join(tmpdir(), 'grid-decimals-'));
    alice = new CommandUser(home);
    await alice.login(grid);
  });
  afterAll(async () => {
    await grid?.remove();
    await rm(home, { recursive: true, force: true });
  });

  const SWEEP =
    '{"Executable":"/bin/echo","Arguments":["%s","%(x)s"],"Parameters":[1.0,0.10,1e3,2],"Parameters.x":4,"ParameterStart":0.12345678901234567,"ParameterStep":1.0}';
  const ARGUMENTS = [
    ['1.0', '0.12345678901234567'],
    ['0.10', '1.12345678901234567'],
    ['1e3', '2.12345678901234567'],
    ['2', '3.12345678901234567'],
  ];
  const SET =
    '{"Executable":"/bin/true","MinRAM":2e2,"ExecutionEnvironment":{"SCALE":1.0,"OFFSET":-0,"N":2,"SEED":9007199254740993}}';
  const VARIABLES = { SCALE: '1.0', OFFSET: '-0', N: 2, SEED: 9007199254740993n };
  const LOST = '{"Executable":"/bin/true","Mass":0.123456789012345671}';
  const kept = async (jids: readonly unknown[]): Promise<JsonObject[]> => {
    const client = await grid.as('alice');
    const read = jids.map(async (jid) => (await client.get(`/jobs/${String(jid)}/manifest`)).bytes);
    return (await Promise.all(read)).map((one) => parseJson(one.toString()) as JsonObject);
  };
  const argumentsOf = async (jids: readonly unknown[]): Promise<unknown[]> =>
    (await kept(jids)).map((manifest) => manifest['Arguments']);

  it.each([
    ['a body', 'application/json', (text: string) => text],
    ['a list', 'application/json', (text: string) => `{"manifests":[${text}]}`],
    ['lines', 'application/x-ndjson', (text: string) => `${text}\n`],
    [
      'a form',
      'application/x-www-form-urlencoded',
      (text: string) => `manifest=${encodeURIComponent(text)}`,
    ],
  ])('stand in jobs as they were sent in %s', async (_what, type, around) => {
    const client = await grid.as('alice');
    const post = async (text: string): Promise<Answer> =>
      client.post('/jobs', { body: around(text), headers: { 'content-type': type } });
    const swept = await post(SWEEP);
    expect(await argumentsOf(swept.body.jids as unknown[])).toEqual(ARGUMENTS);
    const set = await post(SET);
    expect(await kept(set.body.jids as unknown[])).toEqual([
      expect.objectContaining({ ExecutionEnvironment: VARIABLES, MinRAM: 200 }),
    ]);
    const { status, body } = await post(LOST);
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({
        code: 'request.malformed-body',
        detail: expect.stringMatching(
          /^(The body|The manifest|Manifest 1|Line 1) has a number at position 33 that would become another one: give it at most 17 digits, or write it as a text$/,
        ),
      }),
    ]);
  });

  it('stand in jobs as the files of the command and its --set have them', async () => {
    const submit = async (name: string, text: string, ...words: string[]): Promise<Ended> => {
      await writeFile(join(home, name), text);
      return alice.run(['submit', name, '-o', 'name', ...words]);
    };
    const jids = ({ stdout }: Ended): string[] => stdout.trim().split('\n');
    expect(await argumentsOf(jids(await submit('one.json', SWEEP)))).toEqual(ARGUMENTS);
    const list = await submit('list.json', `{"manifests":[${SET},${SWEEP}]}`);
    expect(await argumentsOf(jids(list).slice(1))).toEqual(ARGUMENTS);
    const [first] = await kept(jids(list));
    expect(first).toMatchObject({ ExecutionEnvironment: VARIABLES, MinRAM: 200 });
    const place = '{"Executable":"/bin/echo","Arguments":["%s"],"Parameters":"{{values}}"}';
    const set = await submit('set.json', place, '--set', 'values=[1.0,0.10,3]');
    expect(await argumentsOf(jids(set))).toEqual([['1.0'], ['0.10'], ['3']]);
    expect(await submit('lost.json', LOST)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'gridgate: lost.json has a number at position 33 that would become another one\nhint: give it at most 17 digits, or write it as a text\n',
    });
  });

  it('are refused as metadata where a double would be another number', async () => {
    const fred = await grid.as('fred');
    await fred.post('/filecatalogue/metadata', { json: { name: 'mass', type: 'float' } });
    await fred.post(`/filecatalogue/directory/${encodePath('/vo/decimals')}`);
    const path = `/filecatalogue/directory/${encodePath('/vo/decimals')}/metadata`;
    const put = async (number: string): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' };
      const { status, body } = await fred.put(path, { body: `{"mass":${number}}`, headers });
      return status === 200 ? body.mass : [status, body.detail];
    };
    const detail =
      'The body has a number at position 8 that would become another one: give it at most 17 digits, or write it as a text';
    expect(await put('0.10000000000000001')).toBe(0.1);
    expect(await put('0.1000000000000000055511151231257827')).toBe(0.1);
    expect(await put('1.50')).toBe(1.5);
    expect(await put('0.123456789012345671')).toEqual([400, detail]);
    expect(await put('123456789.123456789')).toEqual([400, detail]);
    expect(await put('1e-400')).toEqual([400, detail]);
  });
});

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, fetch as send, FormData as SentForm } from 'undici';
import { GridClient } from '#src/client/index.js';
import { CommandUser } from '../support/command.js';
import { FILE_NAMES } from '../support/file-names.js';
import { describeWith, has } from '../support/missing.js';
import { startGrid, type Grid, type GridClient as Caller } from '../support/testbed.js';

const run = promisify(execFile);
const sorted = (names: readonly string[]): string[] => [...names].sort();

describe('POST /jobs with files', () => {
  let grid: Grid;
  let alice: Caller;
  let home: string;

  beforeAll(async () => {
    grid = await startGrid();
    alice = await grid.as('alice');
    home = await mkdtemp(join(tmpdir(), 'grid-names-'));
  });
  afterAll(async () => {
    await grid?.remove();
    await rm(home, { recursive: true, force: true });
  });

  const namesOf = async (jid: number): Promise<string[]> => {
    const { body } = await alice.get(`/jobs/${jid}/inputsandbox/files`);
    return sorted((body.files ?? []).map(({ name }: { name: string }) => name));
  };
  const manifest = { Executable: '/bin/true' };
  const boundary = { 'content-type': 'multipart/form-data; boundary=x' };
  const part = (disposition: string, content = ''): string =>
    `--x\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
  const body = (...parts: string[]): Buffer =>
    Buffer.from(
      `${parts.join('')}${part('name="manifest"', JSON.stringify(manifest))}--x--\r\n`,
      'latin1',
    );
  const submitted = async (...parts: string[]): Promise<unknown> => {
    const answer = await alice.post('/jobs', { body: body(...parts), headers: boundary });
    return answer.status === 200
      ? namesOf(answer.body.jids[0])
      : [answer.status, answer.body.code, answer.body.violations ?? answer.body.detail];
  };

  it('keeps the names that the typed client sends', async () => {
    const agent = new Agent({ connect: { ca: grid.ca } });
    const fetch = ((input: string, init: { body: FormData }) => {
      const body = new SentForm(); // that of the platform has another agent
      for (const [name, value] of init.body as unknown as Iterable<[string, string | File]>) {
        if (typeof value === 'string') body.append(name, value);
        else body.append(name, value, value.name);
      }
      return send(input, { ...init, body, dispatcher: agent });
    }) as unknown as typeof globalThis.fetch;
    const client = new GridClient({ url: grid.url, token: alice.token ?? '', fetch });
    const files = FILE_NAMES.map((name) => ({ name, content: new Blob(['x']) }));
    const jid = await client.submitWithFiles(manifest, files);
    expect(await namesOf(jid)).toEqual(sorted(FILE_NAMES));
    await agent.destroy();
  });

  it('keeps the names that the command sends', async () => {
    const user = new CommandUser(home);
    await user.login(grid);
    for (const name of FILE_NAMES) await writeFile(join(home, name), 'x');
    const job = { ...manifest, InputSandbox: FILE_NAMES };
    await writeFile(join(home, 'job.json'), JSON.stringify(job));
    const { code, stdout, stderr } = await user.run(['submit', 'job.json', '-o', 'name']);
    expect([code, stderr]).toEqual([0, '']);
    expect(await namesOf(Number(stdout))).toEqual(sorted(FILE_NAMES));
  });

  describeWith({ met: has('curl'), name: 'curl' })('by curl', () => {
    it('keep their names', async () => {
      const content = join(home, 'content');
      await writeFile(content, 'x');
      const escaped = (name: string): string => name.replaceAll('"', '\\"');
      const files = FILE_NAMES.flatMap((name) => [
        '-F',
        `f=@${content};filename="${escaped(name)}"`,
      ]);
      const { stdout } = await run('curl', [
        ...['-sS', '--cacert', join(grid.home, 'pki/ca.crt')],
        ...['-H', `Authorization: Bearer ${alice.token}`],
        ...['-F', `manifest=${JSON.stringify(manifest)}`, ...files, `${grid.url}/jobs`],
      ]);
      const { jids } = JSON.parse(stdout) as { jids: number[] };
      expect(await namesOf(jids[0] ?? 0)).toEqual(sorted(FILE_NAMES));
    });
  });

  it.each([
    ['filename="a %22b%22"', ['a "b"']],
    ['filename="a \\"b\\""', ['a "b"']],
    ['filename="b"; filename*=UTF-8\'\'a%2522', ['a%22']],
    ['filename*=utf-8\'\'%e2%82%ac.dat; filename="b"', ['€.dat']],
    ['filename="%0d%0A"', [400, 'request.invalid', expect.anything()]],
  ])('reads %s as %j', async (parameter, expected) => {
    expect(await submitted(part(`name="f"; ${parameter}`, 'x'))).toEqual(expected);
  });

  it.each([
    ['name="f"; filename="\xff.dat"', 'The filename of a part of the form is not valid UTF-8'],
    ['name="\xc3"; filename="a"', 'The name of a part of the form is not valid UTF-8'],
    ["name=f; filename*=utf-8''%ff", 'The filename of a part of the form is not valid UTF-8'],
    ['filename="a"', 'A part of the form has no name'],
  ])('refuses %j', async (disposition, detail) => {
    expect(await submitted(part(disposition, 'x'))).toEqual([
      400,
      'request.malformed-body',
      detail,
    ]);
  });

  it('refuses a manifest whose bytes are no UTF-8', async () => {
    expect(await submitted(part('name="manifest"', '{"Executable":"/bin/\xff"}'))).toEqual([
      400,
      'request.malformed-body',
      'A manifest is not valid UTF-8',
    ]);
    const euro = Buffer.from('{"Executable":"/bin/true","JobName":"€"}').toString('latin1');
    expect(await submitted(part('name="manifest"', euro))).toEqual([]);
  });

  it('takes a field for files that was left empty as no file', async () => {
    const empty = part('name="f"; filename=""');
    expect(await submitted(empty, part('name="g"; filename="a"', 'x'), empty)).toEqual(['a']);
    expect(await submitted(empty)).toEqual([]);
    expect(await submitted(part('name="f"; filename=""', 'x'))).toEqual([
      400,
      'request.invalid',
      [{ field: 'files', problem: 'a file has no name' }],
    ]);
  });
});

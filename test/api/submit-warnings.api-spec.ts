import { FormData } from 'undici';
import {
  eventually,
  startGrid,
  type Answer,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const NOWHERE = '/opt/none/such-program';

function noProgram(name: string, pointer = '/Executable'): object {
  const detail = `${name} was neither uploaded nor found on a site that can run the job`;
  return { code: 'manifest.no-program', detail, pointer };
}

function noFile(path: string, pointer: string): object {
  const detail = `${path} is not in the catalogue`;
  return { code: 'manifest.no-input-file', detail, pointer };
}

describe('warnings of POST /jobs', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_CATALOGUE_GLOBAL_READ: 'false' } });
    [alice, bob] = [await grid.as('alice'), await grid.as('bob')];
    // Until its worker has begun nobody can say what jobs would find.
    const hasWorker = async (): Promise<boolean> =>
      (await grid.anonymous.get('/metrics')).bytes.includes('gridgate_local_isolation{');
    await eventually(hasWorker, 'its worker');
    const lines = [
      { kind: 'directory', path: '/vo/mine', mode: 0o700 },
      {
        kind: 'file',
        path: '/vo/mine/data',
        size: 10,
        replicas: [{ se: 'SE-A', pfn: 'https://se.example/d' }],
      },
    ];
    const { bytes } = await alice.post('/filecatalogue/bulk', {
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(bytes.toString('utf8')).toContain('"failed":0');
  });
  afterAll(async () => grid.remove());

  const warningsOf = async (manifest: object, client = alice): Promise<unknown> => {
    const { status, body } = await client.post('/jobs?dryRun=true', { json: manifest });
    expect(status).toBe(200);
    return body.warnings;
  };

  const submitted = ({ status, body }: Answer, warnings?: object[]): void => {
    const jids = expect.arrayContaining([expect.any(Number)]);
    expect([status, body]).toEqual([200, warnings ? { jids, warnings } : { jids }]);
  };

  describe('about variables', () => {
    it.each(['A=1, B=2', 'A=1,B=2', 'A=1;B=2', 'A=1 B=2', 'A=1\nB=2'])(
      'names the second one in the text %j',
      async (text) => {
        const detail =
          'The text is the one variable A, and B is part of its value; for several give a list of texts NAME=value, or an object';
        expect(await warningsOf({ Executable: '/bin/true', ExecutionEnvironment: text })).toEqual([
          { code: 'manifest.one-variable', detail, pointer: '/ExecutionEnvironment' },
        ]);
      },
    );

    it.each([['A=1, 2'], ['A=b=c'], ['JAVA_OPTS=-Da=1 -Db=2'], [['A=1, B=2']], [{ A: '1, B=2' }]])(
      'is silent about %j',
      async (environment) => {
        const manifest = { Executable: '/bin/true', ExecutionEnvironment: environment };
        expect(await warningsOf(manifest)).toEqual([]);
      },
    );
  });

  describe('about the program', () => {
    it.each([
      NOWHERE,
      'no-such-program',
      'bin/true',
      './true',
      '/etc/passwd',
      '/root/x',
      '/usr/bin',
    ])('names %s, which no job would find', async (name) => {
      expect(await warningsOf({ Executable: name })).toEqual([noProgram(name)]);
    });

    it.each(['/bin/true', 'true', 'sh'])('is silent about %s', async (name) => {
      expect(await warningsOf({ Executable: name })).toEqual([]);
      submitted(await alice.post('/jobs', { json: { Executable: name } }));
    });

    it('is the same when the jobs are made', async () => {
      const json = { Executable: NOWHERE };
      submitted(await alice.post('/jobs', { json }), [noProgram(NOWHERE)]);
    });

    it.each(['run.sh', './run.sh'])('is silent about the uploaded %s', async (name) => {
      const form = new FormData();
      form.append('manifest', JSON.stringify({ Executable: name }));
      form.append('file', new File(['#!/bin/sh\n'], 'run.sh'));
      submitted(await alice.post('/jobs', { multipart: form }));
    });

    it('is about the site that is wanted', async () => {
      expect(await warningsOf({ Executable: 'no-such', Sites: ['LOCAL.spare'] })).toEqual([
        noProgram('no-such'),
      ]);
    });

    it('is silent where a site cannot be looked at, or none can take the job', async () => {
      const codes = async (manifest: object): Promise<string[]> =>
        ((await warningsOf(manifest)) as { code: string }[]).map(({ code }) => code);
      expect(await codes({ Executable: NOWHERE, Sites: ['NO.where'] })).toEqual([
        'manifest.unknown-site',
        'manifest.no-site',
      ]);
      expect(await codes({ Executable: NOWHERE, GPUs: 1 })).toEqual(['manifest.no-site']);
    });

    it('is silent on an instance that runs no jobs', async () => {
      const other = await grid.second({ GRID_ROLE: 'api' });
      try {
        expect(await warningsOf({ Executable: NOWHERE }, await other.as('alice'))).toEqual([]);
      } finally {
        await other.stop();
      }
    });

    it('is said once for each manifest, not for each job of it', async () => {
      expect(await warningsOf({ Executable: NOWHERE, Parameters: 50 })).toEqual([
        noProgram(NOWHERE),
      ]);
      const manifests = [{ Executable: '/bin/true' }, { Executable: NOWHERE, Parameters: 3 }];
      expect(await warningsOf({ manifests })).toEqual([
        noProgram(NOWHERE, '/manifests/1/Executable'),
      ]);
    });
  });

  describe('about an uploaded script', () => {
    const uploaded = async (
      content: string | Buffer,
      more: object = {},
      path = '/jobs?dryRun=true',
    ): Promise<Answer> => {
      const form = new FormData();
      form.append('manifest', JSON.stringify({ Executable: 'run.sh', ...more }));
      form.append('file', new File([content], 'run.sh'));
      form.append('file', new File(['#!/bin/sh\n'], 'tool'));
      return alice.post(path, { multipart: form });
    };
    const pointer = '/Executable';
    const lineEnds = (line: string): object => ({
      code: 'manifest.script-line-ends',
      detail: `The first line of run.sh has a carriage return (CRLF), which belongs to the word before it: ${line}; save the file with LF line ends`,
      pointer,
    });
    const mark = (line: string): object => ({
      code: 'manifest.script-byte-order-mark',
      detail: `run.sh begins with a byte order mark, behind which Linux sees no #!: ${line}; save the file as UTF-8 without it`,
      pointer,
    });
    const noInterpreter = (line: string): object => ({
      code: 'manifest.no-interpreter',
      detail: `The interpreter of run.sh was not found on a site that can run the job: ${line}`,
      pointer,
    });

    it.each<[string, string | Buffer, object]>([
      ['CRLF', '#!/bin/bash\r\necho hello\r\n', lineEnds('"#!/bin/bash\\r"')],
      ['CRLF behind env', '#!/usr/bin/env python\r\n', lineEnds('"#!/usr/bin/env python\\r"')],
      ['CRLF without #!', 'echo hello\r\n', lineEnds('"echo hello\\r"')],
      ['a byte order mark', '\u{feff}#!/bin/sh\n', mark('"\\u{feff}#!/bin/sh"')],
      ['it with CRLF', '\u{feff}#!/bin/sh\r\n', mark('"\\u{feff}#!/bin/sh\\r"')],
      ['no interpreter', '#!/opt/none/python\n', noInterpreter('"#!/opt/none/python"')],
      ['none for env', '#!/usr/bin/env none\n', noInterpreter('"#!/usr/bin/env none"')],
      [
        'none with env -S',
        '#!/usr/bin/env -S none -u\n',
        noInterpreter('"#!/usr/bin/env -S none -u"'),
      ],
      ['none that was uploaded', '#!./none\n', noInterpreter('"#!./none"')],
    ])('names %s', async (_what, content, warning) => {
      expect((await uploaded(content)).body.warnings).toEqual([warning]);
    });

    it.each<[string, string | Buffer]>([
      ['a good line', '#!/bin/sh\n'],
      ['a blank behind #!', '#! /bin/sh -e\n'],
      ['env', '#!/usr/bin/env sh\n'],
      ['env -S', '#!/usr/bin/env -S sh -e\n'],
      ['an interpreter that was uploaded', '#!./tool\n'],
      ['an empty file', ''],
      ['a binary', Buffer.from('7f454c460201010000000d0a', 'hex')],
      ['carriage returns further on', '#!/bin/sh\nprintf "a\r\n"\n'],
    ])('is silent about %s', async (_what, content) => {
      expect((await uploaded(content)).body.warnings).toEqual([]);
    });

    it('looks for nothing on a PATH of the job', async () => {
      const ExecutionEnvironment = { PATH: '/opt/mine' };
      const { body } = await uploaded('#!/usr/bin/env mine\n', { ExecutionEnvironment });
      expect(body.warnings).toEqual([]);
    });

    it('is said when the jobs are made, once for each manifest', async () => {
      const warning = lineEnds('"#!/bin/sh\\r"');
      const content = '#!/bin/sh\r\n';
      submitted(await uploaded(content, {}, '/jobs'), [warning]);
      submitted(await uploaded(content, { Parameters: 3 }, '/jobs'), [warning]);
      const form = new FormData();
      form.append('manifest', JSON.stringify({ Executable: 'true' }));
      form.append('manifest', JSON.stringify({ Executable: './run.sh', Parameters: 2 }));
      form.append('file', new File([content], 'run.sh'));
      const { status, body } = await alice.post('/jobs?array=true', { multipart: form });
      expect([status, body.warnings]).toEqual([
        200,
        [{ ...warning, pointer: '/manifests/1/Executable' }],
      ]);
    });
  });

  describe('about input files', () => {
    const job = (InputData: string | string[]): object => ({ Executable: '/bin/true', InputData });

    it('is silent about what the submitter may read', async () => {
      expect(await warningsOf(job(['LFN:/vo/mine/data', '/vo/mine/data']))).toEqual([]);
    });

    it('names each that is not there by its place in the list', async () => {
      const list = ['LFN:/vo/mine/data', 'LFN:/vo/mine/none', '', ' /vo/mine '];
      expect(await warningsOf(job(list))).toEqual([
        noFile('/vo/mine/none', '/InputData/1'),
        noFile('/vo/mine', '/InputData/3'),
      ]);
      expect(await warningsOf(job('LFN:/vo/mine/none'))).toEqual([
        noFile('/vo/mine/none', '/InputData'),
      ]);
    });

    it('is the same when the jobs are made', async () => {
      const json = { manifests: [job('/vo/mine/data'), job(['/vo/none'])] };
      submitted(await alice.post('/jobs', { json }), [
        noFile('/vo/none', '/manifests/1/InputData/0'),
      ]);
    });

    it('does not tell a hidden file from a missing one', async () => {
      const paths = ['/vo/mine/data', '/vo/mine/none'];
      expect(await warningsOf(job(paths), bob)).toEqual(
        paths.map((path, index) => noFile(path, `/InputData/${index}`)),
      );
    });
  });

  describe('about what stands for place-holders', () => {
    const sweep = (Arguments: unknown, Parameters: unknown): object => ({
      ...{ Executable: '/bin/echo', Arguments, Parameters },
    });
    const split = (value: string, number: number, pointer = '/Arguments'): object => ({
      code: 'manifest.value-split',
      detail: `The value ${value} (number ${number}, counted from 0) is split like a shell splits words; a list of texts in Arguments keeps values whole`,
      pointer,
    });

    it('names the first value of a manifest that a text of arguments splits', async () => {
      const values = ['a.dat', 'a b.dat', 'c d.dat'];
      expect(await warningsOf(sweep('--in %s', values))).toEqual([split('a b.dat', 1)]);
      expect(await warningsOf(sweep('--in "%s"', values))).toEqual([]);
      expect(await warningsOf(sweep(['--in', '%s'], values))).toEqual([]);
      const manifests = [sweep('%s', ['a']), sweep('%n', 3), sweep('%s', ['x', 'y\tz'])];
      expect(await warningsOf({ manifests })).toEqual([split('y\tz', 1, '/manifests/2/Arguments')]);
    });

    it('names a number that is the same in all jobs', async () => {
      const same = (holder: string, key: string): object => ({
        code: 'manifest.no-effect',
        detail: `${holder} stands for the same number in all 3 jobs, as ParameterStep${key} is 0`,
        pointer: `/Parameters${key}`,
      });
      expect(await warningsOf(sweep('%s', 3))).toEqual([same('%s', '')]);
      const named = { ...sweep('%(a)s', undefined), 'Parameters.a': 3, 'Parameters.b': 3 };
      expect(await warningsOf(named)).toEqual([same('%(a)s', '.a')]);
      for (const more of [{ ParameterStep: 1 }, { ParameterFactor: 2 }, { Arguments: 'x' }]) {
        expect(await warningsOf({ ...sweep('%s', 3), ...more })).toEqual([]);
      }
      expect(await warningsOf(sweep('%s', 1))).toEqual([]);
    });

    it('names a place-holder without values', async () => {
      const detail = '%(b)s stays as it is: there is no Parameters.b';
      const manifest = {
        Executable: '/bin/echo',
        Arguments: '%(a)s %(b)s',
        'Parameters.a': [1, 2],
      };
      expect(await warningsOf(manifest)).toEqual([
        { code: 'manifest.no-effect', detail, pointer: '' },
      ]);
    });

    it('is a fault that names the value where a quote has no end', async () => {
      const json = sweep('--in %s', ['a.dat', 'b.dat', "it's.dat", 'd.dat']);
      const { status, body } = await alice.post('/jobs', { json });
      expect([status, body.violations]).toEqual([
        400,
        [
          {
            field: 'Arguments',
            problem:
              "has a quote or backslash without its end in the value it's.dat (number 2, counted from 0)",
            instead: 'a list of texts in Arguments keeps values whole',
          },
        ],
      ]);
    });
  });

  it('are said of keys without a meaning; those that would change what runs are refused', async () => {
    const known = { Executable: '/bin/true', MaxCPUTime: 100 };
    expect(await warningsOf({ ...known, Colour: 'red' })).toEqual([
      {
        code: 'manifest.alias',
        detail: 'MaxCPUTime is read as CPUTime',
        pointer: '/MaxCPUTime',
      },
      {
        code: 'manifest.unknown-key',
        detail: 'Colour is not known and has no effect',
        pointer: '/Colour',
      },
    ]);
    const instead =
      'upload the program with its libraries, or name one that a site has; sites say what they have by Tags';
    const { status, body } = await alice.post('/jobs', { json: { ...known, Container: 'el9' } });
    expect([status, body.detail, body.violations]).toEqual([
      400,
      `Container: is not offered here; instead: ${instead}`,
      [{ field: 'Container', problem: 'is not offered here', instead }],
    ]);
  });

  it('are none beside a fault', async () => {
    const json = { Executable: NOWHERE, InputData: ['/vo/none'], CPUTime: 1 };
    const { status, body } = await alice.post('/jobs', { json });
    expect(status).toBe(400);
    expect(body).not.toHaveProperty('warnings');
    expect(body.violations).toEqual([
      { field: 'CPUTime', problem: 'must be between 100 and 500000' },
    ]);
  });

  it('are the first 100 of a large submit, in which things are looked for once', async () => {
    const manifests = Array.from({ length: 10_000 }, (_, index) => ({
      Executable: NOWHERE,
      InputData: [`/vo/none/${index}`, '/vo/mine/data'],
      Sites: ['LOCAL.demo'],
    }));
    const answer = await alice.post('/jobs', { json: { manifests } });
    submitted(
      answer,
      Array.from({ length: 100 }, (_, index) =>
        noProgram(NOWHERE, `/manifests/${index}/Executable`),
      ),
    );
    expect(answer.body.jids).toHaveLength(10_000);
  });
});

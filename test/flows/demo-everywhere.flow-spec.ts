import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { Agent, FormData, request } from 'undici';
import { startDemo, type Demo } from '../support/demo-process.js';
import { namedUser } from '../support/hostile/ways.js';
import { withoutNamespaces } from '../support/without-namespaces.js';

const FALLEN_BACK =
  'Jobs cannot be isolated on this machine: the demo runs its own job without (level none), and refuses all others.';
const REFUSED =
  'Jobs cannot be isolated on this machine: only the programs that GRID_LOCAL_PROGRAMS names are run here, those of the demo';

const isRoot = process.getuid?.() === 0;
const place = mkdtempSync(join(tmpdir(), 'demo-filter-'));
execFileSync('chmod', ['755', place]);
const container = withoutNamespaces(join(place, 'filter'));

interface Machine {
  name: string;
  through: readonly string[];
  owner?: number | undefined;
  isFallenBack: boolean;
  lacks: string | undefined;
}

const normalUser = namedUser();
const noFilter = container ? undefined : 'no filter of system calls can be loaded';
const MACHINES: Machine[] = [
  {
    name: 'a normal user',
    through: normalUser.words,
    owner: normalUser.account,
    isFallenBack: false,
    lacks: normalUser.lacks,
  },
  {
    name: 'a normal user of a container without namespaces',
    through: [...normalUser.words, ...(container ?? [])],
    owner: normalUser.account,
    isFallenBack: true,
    lacks: normalUser.lacks ?? noFilter,
  },
  {
    name: 'root of a container without namespaces',
    through: container ?? [],
    isFallenBack: false,
    lacks: isRoot ? noFilter : 'these tests were not started by root',
  },
];

const here = MACHINES.filter(({ name, lacks }) => {
  if (lacks !== undefined) process.stderr.write(`npm run demo, ${name}: left out, ${lacks}\n`);
  return lacks === undefined;
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

describe.each(here)('npm run demo as $name', ({ through, owner, isFallenBack }) => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await startDemo({ through, ...(owner === undefined ? {} : { owner }) });
  });
  afterAll(() => demo?.remove());

  it('comes to its end, and says when jobs are not isolated', () => {
    expect(demo.shown()).toMatch(/counts\.txt:\n +3 muon\n +2 electron\n +1 photon\n/);
    const said = demo
      .shown()
      .split('\n')
      .filter((line) => line === FALLEN_BACK);
    expect(said).toHaveLength(isFallenBack ? 1 : 0);
    if (!isFallenBack) expect(demo.complaints()).toBe('');
  });

  it(`${isFallenBack ? 'refuses' : 'runs'} what somebody else hands in`, async () => {
    const form = new FormData();
    form.set('manifest', JSON.stringify({ Executable: 'mine.sh', InputSandbox: ['mine.sh'] }));
    form.set('file', new Blob(['#!/bin/sh\nid\n']), 'mine.sh');
    const pki = (name: string): string =>
      readFileSync(join(demo.folder, '.grid/pki', name), 'utf8');
    const header = readFileSync(join(demo.folder, '.grid/demo/authorization'), 'utf8');
    const answer = await request(`${demo.url}/jobs`, {
      method: 'POST',
      body: form,
      headers: { authorization: header.slice(header.indexOf(':') + 2).trim() },
      dispatcher: new Agent({ connect: { ca: pki('ca.crt') } }),
    });
    const body = await answer.body.json();
    if (isFallenBack) {
      expect(answer.statusCode).toBe(403);
      expect(body).toMatchObject({ code: 'job.forbidden', detail: REFUSED });
    } else {
      expect([answer.statusCode, body]).toEqual([200, { jids: [expect.any(Number)] }]);
    }
  });

  it('ends with Ctrl-C', async () => {
    demo.process.kill('SIGINT');
    expect(await once(demo.process, 'exit')).toEqual([0, null]);
  });
});

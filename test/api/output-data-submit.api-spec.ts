import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

describe('OutputData, at submit', () => {
  let directory: string;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-outputs-'));
    const webdav = { kind: 'webdav', vos: ['vo'] } as const;
    const storageElements = [
      { name: 'SE-A', url: 'https://a.example.org/vo', ...webdav },
      { name: 'SE-B', url: 'https://b.example.org/vo', ...webdav },
      { name: 'SE-C' },
      { name: 'SE-ELSE', url: 'https://else.example.org/else', ...webdav, vos: ['else'] },
    ];
    const other = { name: 'else_user', vo: 'else', properties: new Set(['NormalUser'] as const) };
    const none = { name: 'none_user', vo: 'none', properties: new Set(['NormalUser'] as const) };
    const more = [other, none].map((one) => ({ ...one, members: ['carol'], idpScopes: [] }));
    const groups = [...DEMO_REGISTRY.groups, ...more];
    const registry = join(directory, 'r.yaml');
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, groups, storageElements }));
    const env = { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true', GRID_ROLE: 'api' };
    grid = await startGrid({ env });
    alice = await grid.as('alice');
  });
  afterAll(async () => {
    await grid?.remove();
    await rm(directory, { recursive: true, force: true });
  });

  const shell = (command: string, more: object = {}): object => ({
    ...{ Executable: '/bin/sh', Arguments: ['-c', command], OutputSandbox: [], ...more },
  });

  const refusals = async (manifest: object): Promise<string[]> => {
    const { status, body } = await alice.post('/jobs', { json: shell('true', manifest) });
    expect(status).toBe(400);
    return body.violations.map(
      ({ field, problem }: { field: string; problem: string }) => `${field}: ${problem}`,
    );
  };

  it('are refused that could not be stored', async () => {
    const none = (se: string): string =>
      `${se} is no storage element with an address that takes files of the virtual organisation`;
    expect(await refusals({ OutputData: ['f', './f', '../f', '/g', 'd/', '.'] })).toEqual([
      'OutputData: ../f: must be below the directory of the job',
      'OutputData: /g: must be below the directory of the job',
      'OutputData: d/: is not the name of a file',
      'OutputData: .: is not the name of a file',
      'OutputData: f and ./f would be one file',
    ]);
    expect(
      await refusals({
        OutputData: [
          { name: '*', path: 'all' },
          { name: 'f', path: '/else/f' },
          { name: 'g', path: '/vo/../else/g' },
          { name: 'h', path: '../h' },
          { name: 'i', se: 'SE-ELSE' },
          { name: 'd/./k' },
          { name: 'l', path: 'q/./l' },
        ],
      }),
    ).toEqual([
      'OutputData: *: is a pattern, so path must be a directory, with / at the end',
      'OutputData: f: must lie under /vo/',
      'OutputData: g: contains . or ..',
      'OutputData: h: must be below the directory of the job',
      `OutputData: i: ${none('SE-ELSE')}`,
      'OutputData: d/./k: contains .',
      'OutputData: l: contains .',
    ]);
    const all = { OutputData: ['f'], OutputPath: '/else/x', OutputSE: ['SE-B', 'SE-C'] };
    expect(await refusals(all)).toEqual([
      'OutputPath: must lie under /vo/',
      `OutputSE: ${none('SE-C')}`,
    ]);
    const shape = 'OutputData: must be texts, or objects with name, path and se';
    for (const OutputData of [[3], [{ path: 'x' }], [{ name: 'x', more: 1 }]])
      expect(await refusals({ OutputData })).toEqual([shape]);
    expect(await refusals({ OutputData: Array.from({ length: 1_001 }, (_, i) => `${i}`) })).toEqual(
      ['OutputData: has 1001 entries, at most 1000 are allowed'],
    );
  });

  it('are within the token that submits the job', async () => {
    const json = shell('true', { OutputData: ['f'], OutputPath: '/vo/out/%j' });
    const withScope = async (scope: string): Promise<GridClient> =>
      grid.bearer(await grid.token('alice', 'grid_user', 'Prod', scope));
    for (const scope of ['jobs:submit catalogue:read', 'jobs:submit storage.create:/vo/other']) {
      const { status, body } = await (await withScope(scope)).post('/jobs', { json });
      expect([status, body.code]).toEqual([403, 'auth.insufficient-scope']);
      expect(body.detail).toContain('/vo/out/%j/f');
    }
    const narrow = await withScope('jobs:submit storage.create:/vo/out');
    expect((await narrow.post('/jobs', { json })).status).toBe(200);
  });

  it('are warned of where several jobs would store one file', async () => {
    const warned = async (manifest: object): Promise<string[]> => {
      const json = shell('true', { OutputData: ['f'], Parameters: 3, ...manifest });
      const { status, body } = await alice.post('/jobs', { json });
      expect(status).toBe(200);
      return (body.warnings ?? []).map(
        ({ code, detail }: Record<string, string>) => `${code} ${detail}`,
      );
    };
    expect(await warned({ OutputPath: '/vo/out/same' })).toEqual([
      'manifest.output-path-shared Several jobs would store /vo/out/same/f, which only one can; %j in OutputPath stands for the id of the job',
    ]);
    for (const OutputPath of [undefined, '/vo/out/%j', '/vo/out/%n'])
      expect(await warned({ OutputPath })).toEqual([]);
  });

  it('is kept with a warning where no element takes files of the VO; more than texts is refused', async () => {
    const carol = grid.bearer(await grid.token('carol', 'none_user', 'Prod'));
    const { status, body } = await carol.post('/jobs', {
      json: shell('true', { OutputData: ['f'] }),
    });
    expect([status, body.warnings]).toEqual([
      200,
      [
        {
          ...{ code: 'manifest.no-effect', pointer: '/OutputData' },
          detail:
            'OutputData is kept in the manifest; only OutputSandbox is brought back, as no storage element with an address takes files of the virtual organisation',
        },
      ],
    ]);
    for (const OutputData of [[{ name: 'f' }], [{ name: 5 }], [3], { name: 'f' }]) {
      const refused = await carol.post('/jobs', { json: shell('true', { OutputData }) });
      expect([refused.status, refused.body.violations[0].field]).toEqual([400, 'OutputData']);
    }
  });
});

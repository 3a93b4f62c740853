import { readFileSync } from 'node:fs';
import { FormData } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

type Json = Record<string, any>;
const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Json;
const schemas = document['components'].schemas as Json;

/** The operations that read with a token, with the address that the page of the API offers at first. */
const reads = Object.entries(document['paths'] as Json)
  .filter(([path, item]) => (item as Json)['get'] && /^\/(jobs|filecatalogue)/.test(path))
  .map(([path, item]) => ({ path, address: addressOf(path, (item as Json)['get'] as Json) }));

function addressOf(path: string, operation: Json): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const one of (operation['parameters'] ?? []) as Json[]) {
    const { schema } = one as { schema: Json };
    const example = (one['example'] ?? schema['example'] ?? schema['default']) as
      string | number | boolean | Json | undefined;
    if (example === undefined) continue;
    if (one['in'] === 'path') {
      filled = filled.replace(`{${one['name']}}`, encodeURIComponent(example as string));
    } else if (typeof example === 'object') {
      for (const [name, value] of Object.entries(example)) query.append(name, String(value));
    } else query.append(one['name'] as string, String(example));
  }
  const text = query.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

describe('the examples of the OpenAPI document', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
    const alice = await grid.as('alice');
    const submitted = await alice.post('/jobs', {
      json: schemas['SubmitJobsRequest'].example as Json,
    });
    expect([submitted.status, submitted.body]).toEqual([200, { jids: [1] }]);
    await eventually(
      async () => (await alice.get<{ status: string }>('/jobs/1')).body.status === 'Done',
      'the example of a submit is Done',
    );
  });
  afterAll(() => grid?.remove());

  it('cover every operation that reads', () => {
    expect(reads.length).toBeGreaterThan(18);
    expect(reads.filter(({ address }) => address.includes('{'))).toEqual([]);
  });

  it.each(['ManifestFormRequest', 'ManifestUploadRequest'])('submits that of %s', async (name) => {
    const manifest = schemas[name].properties.manifest.example as string;
    const alice = await grid.as('alice');
    const form = { manifest };
    const multipart = new FormData();
    multipart.append('manifest', manifest);
    const query = { dryRun: true };
    const sent = name === 'ManifestFormRequest' ? { form, query } : { multipart, query };
    const { status, body } = await alice.post('/jobs', sent);
    expect([status, body]).toEqual([
      200,
      {
        valid: true,
        jobs: 1,
        manifests: [expect.objectContaining(JSON.parse(manifest) as Json)],
        warnings: [],
      },
    ]);
  });

  it.each(reads)('GET $address works on the demo', async ({ path, address }) => {
    const answer = await (await grid.as('alice')).get(address);
    // The example is a job without input files, and it has ended; no storage element has an address: refusals, as documented.
    const ended: Record<string, number> = {
      '/filecatalogue/file/{file}/content': 409,
      '/jobs/{jid}/peek': 409,
      '/jobs/{jid}/inputsandbox': 404,
      '/jobs/{jid}/inputsandbox/files': 404,
      '/jobs/arrays/{arrayId}': 404,
      '/jobs/{jid}/inputsandbox/files/{name}': 404,
    };
    expect(answer.status).toBe(ended[path] ?? 200);
    const documented = document['paths'][path].get.responses[String(answer.status)] as Json;
    const type = String(answer.headers['content-type']).split(';')[0] ?? '';
    expect(Object.keys(documented['content'] as Json)).toContain(type);
  });
});

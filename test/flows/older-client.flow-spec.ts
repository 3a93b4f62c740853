import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith, pythonWith } from '../support/missing.js';
import { startGrid, support, type Grid } from '../support/testbed.js';

const run = promisify(execFile);
const python = pythonWith('requests');
const need = { met: python !== undefined, name: 'python3-requests' };

describeWith(need)('a client written for the older interface', () => {
  let grid: Grid;

  beforeAll(async () => {
    grid = await startGrid();
  });

  afterAll(async () => {
    await grid?.remove();
  });

  it('gets a token, runs a job with files and unpacks the output', async () => {
    const pki = (name: string): string => join(grid.home, 'pki', name);
    const script = join(support().root, 'test/support/older_client.py');
    const { stdout } = await run(python ?? 'python3', [
      script,
      grid.url,
      pki('ca.crt'),
      pki('alice.crt'),
      pki('alice.key'),
    ]);
    const seen = JSON.parse(stdout) as { jid: number };
    expect(seen).toEqual({
      jid: expect.any(Number),
      status: 'Done',
      files: ['std.err', 'std.out'],
      output: '3',
      entries: 1,
      disposition: `attachment; filename="${seen.jid}-outputsandbox.tar.gz"`,
    });
  });
});

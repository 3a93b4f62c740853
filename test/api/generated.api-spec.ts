import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';

describe('generated pages of docs/', () => {
  it.each(['scripts/write-docs.mjs', 'scripts/write-openapi.mjs'])(
    'are what %s writes (run npm run generate)',
    (script) => {
      const result = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
      expect({ status: result.status, stderr: result.stderr }).toEqual({ status: 0, stderr: '' });
    },
  );
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { apiSuites, moduleSpecs } from '../support/module-suites.mjs';

/** Specs below these folders; those of test/flows are suites of their own. */
const FOLDERS = ['src', 'test/architecture', 'test/client', 'test/api'];

describe('the suites of npm test', () => {
  it('have each spec once', () => {
    const found = FOLDERS.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('spec.ts') && !path.endsWith('.type-spec.ts'))
        .map((path) => `${folder}/${path}`),
    );
    const specs = [...moduleSpecs().values(), ...apiSuites().values()].flat();
    expect(specs.sort()).toEqual(found.sort());
  });
});

describe('quarantine.json', () => {
  it('says of each test its name, its cause as far as known, and the day by which it is mended or deleted', () => {
    const rows = JSON.parse(readFileSync('test/quarantine.json', 'utf8')) as unknown[];
    for (const row of rows) {
      expect(row).toEqual({
        test: expect.any(String) as unknown,
        cause: expect.any(String) as unknown,
        until: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as unknown,
      });
    }
  });
});

describe('test/flows/lists.mjs', () => {
  it('names suites that exist', async () => {
    const { ALONE, CI_FLOWS, NIGHTLY_FLOWS } = await import('../flows/lists.mjs');
    const all = [...ALONE, ...CI_FLOWS, ...NIGHTLY_FLOWS];
    expect(all.filter((path) => !existsSync(path))).toEqual([]);
  });
});

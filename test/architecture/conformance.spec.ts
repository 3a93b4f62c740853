import { existsSync } from 'node:fs';
import { STANDARDS, type Requirement } from '../support/conformance/index.mjs';
import { testsOf } from '../support/conformance/test-titles.js';

/** What jest starts as a test (jest.config.mjs). */
const SPEC = /^(src\/.*\.spec|test\/architecture\/.*\.spec|test\/.*\.(api|client|flow)-spec)\.ts$/;
/** Clauses of the FAPI 2.0 Security Profile with a `shall` that is not for clients alone. */
const FAPI_CLAUSES: Record<string, number[]> = {
  '5.2.1': [1, 2, 3, 5],
  '5.2.2': [1],
  '5.2.3': [1, 2, 3],
  '5.3.2.1': [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13],
  '5.3.2.2': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14],
  '5.3.4': [1, 2, 3, 4, 5],
  '5.4.1': [1, 2, 3, 4],
  '5.4.2': [1],
};

/** How many demands (MUST, SHALL, REQUIRED) of the WLCG profile 1.3 for issuers and resources are in a section. */
const WLCG_DEMANDS: Record<string, number> = {
  '2.1.1': 1,
  '2.1.1 sub': 2,
  '2.1.1 exp': 1,
  '2.1.1 iss': 2,
  '2.1.1 wlcg.ver': 1,
  '2.1.1 wlcg.groups': 2,
  '2.1.1 aud': 1,
  '2.1.1 jti': 1,
  '2.1.2 auth_time': 1,
  '2.2.1': 4,
  '2.2.1 storage.create': 1,
  '2.2.1 storage.stage': 1,
  '2.2.2': 2,
  '2.2.3': 1,
  '3.1': 1,
  '3.2': 1,
  '3.3': 1,
  '4.2': 4,
  '4.2.1': 1,
  '4.3.1': 1,
  '4.3.2': 4,
  '4.3.3': 3,
};

/** What is wrong with the tests of a row. */
function faultsOf({ shown = [], notMet }: Requirement): string[] {
  const faults = shown.flatMap(({ file, title, row }) => {
    if (!SPEC.test(file)) return [`${file} is no test file`];
    if (!existsSync(file)) return [`${file} is missing`];
    const found = testsOf(file).filter((one) => one.title === title);
    if (found.length !== 1) return [`${file} has ${found.length} tests: ${title}`];
    const isThere = row === undefined || found[0]?.rows.some((one) => one.includes(row));
    return isThere ? [] : [`${file}: ${title}: no row ${row}`];
  });
  if (notMet === undefined) return shown.length > 0 ? faults : ['has no test'];
  return notMet.length > 40 ? faults : [...faults, 'has no reason'];
}

describe('the demands of a standard', () => {
  it.each(STANDARDS.map((standard) => [standard.name, standard] as const))(
    '%s: each has a test that is there, or a reason',
    (_name, { requirements }) => {
      const faults = requirements.flatMap((one) =>
        faultsOf(one).map((fault) => `${one.section} ${one.text}: ${fault}`),
      );
      expect(faults).toEqual([]);
      expect(new Set(requirements.map(({ text }) => text)).size).toBe(requirements.length);
    },
  );

  it('FAPI 2.0: each clause is there', () => {
    const sections = STANDARDS.find(({ name }) => name.startsWith('FAPI'))!.requirements.map(
      ({ section }) => section,
    );
    const clauses = Object.entries(FAPI_CLAUSES).flatMap(([section, numbers]) =>
      numbers.map((number) => `${section}-${number}`),
    );
    expect(clauses.filter((clause) => !sections.includes(clause))).toEqual([]);
  });

  it('WLCG profile 1.3: as many are there as the document has', () => {
    const rows = STANDARDS.find(({ name }) => name.startsWith('WLCG'))!.requirements;
    const found = Object.keys(WLCG_DEMANDS).map((section): [string, number] => [
      section,
      rows.filter((row) => row.section === section).length,
    ]);
    expect(Object.fromEntries(found)).toEqual(WLCG_DEMANDS);
    expect(rows.length).toBe(Object.values(WLCG_DEMANDS).reduce((sum, count) => sum + count));
  });
});

import { appendFileSync } from 'node:fs';

/** The line of a run that has come to all its suites. */
export const ALL_SEEN = 'all seen';

/**
 * A jest reporter: writes the path of each suite that failed into the file that GRID_TEST_FAILED names, one a line, and at the
 * end ALL_SEEN.
 */
export default class FailedSuites {
  onTestResult(test, { numFailingTests, testExecError }) {
    if (numFailingTests > 0 || testExecError) noteFailedSuite(test.path);
  }

  onRunComplete(_contexts, { numTotalTestSuites, testResults }) {
    if (testResults.length === numTotalTestSuites) noteFailedSuite(ALL_SEEN);
  }
}

/** Notes a suite that has to be called failed; without GRID_TEST_FAILED nothing. */
export function noteFailedSuite(path) {
  const { GRID_TEST_FAILED: file } = process.env;
  if (file) appendFileSync(file, `${path}\n`);
}

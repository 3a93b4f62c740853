import { appendFileSync } from 'node:fs';

/** A jest reporter: writes the path of each suite that failed into the file that GRID_TEST_FAILED names, one a line. */
export default class FailedSuites {
  onTestResult(test, { numFailingTests, testExecError }) {
    if (numFailingTests > 0 || testExecError) noteFailedSuite(test.path);
  }
}

/** Notes a suite that has to be called failed; without GRID_TEST_FAILED nothing. */
export function noteFailedSuite(path) {
  const { GRID_TEST_FAILED: file } = process.env;
  if (file) appendFileSync(file, `${path}\n`);
}

/**
 * A jest reporter. At the end of a red run it lists which suite, which test, and how to run it alone; in every run the seconds of
 * the slowest suites, so that runs can be compared, and one line with all counts.
 */
import { relative } from 'node:path';
import { root } from '../../scripts/run.mjs';

const SLOWEST = 10;

export default class RedList {
  onRunComplete(_contexts, { testResults, numPassedTests, numFailedTests, numPendingTests }) {
    const lines = ['', 'slowest suites:'];
    const seconds = ({ perfStats: { start, end } }) => (end - start) / 1000;
    const slowest = [...testResults].sort((a, b) => seconds(b) - seconds(a)).slice(0, SLOWEST);
    for (const result of slowest) {
      lines.push(`  ${seconds(result).toFixed(1)} s ${nameOf(result)}`);
    }
    const red = testResults.flatMap(redOf);
    if (red.length > 0) lines.push('', 'red:', ...red);
    const failed = numFailedTests + testResults.filter(({ testExecError }) => testExecError).length;
    lines.push(
      '',
      `${testResults.length} suites`,
      `${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`,
    );
    process.stderr.write(`${lines.join('\n')}\n`);
  }
}

const nameOf = ({ testFilePath }) => relative(root, testFilePath);

function redOf(result) {
  if (result.testExecError) return [aloneLine(nameOf(result))];
  return result.testResults
    .filter(({ status }) => status === 'failed')
    .map(({ ancestorTitles, title, fullName }) => {
      const [spec] = ancestorTitles;
      const isModule = /\.spec\.ts$|-spec\.ts$/.test(spec ?? '');
      if (!isModule) return aloneLine(nameOf(result), fullName);
      return aloneLine(spec, [...ancestorTitles.slice(1), title].join(' '));
    });
}

/** The suite, the test, and the command that runs it alone. */
function aloneLine(path, name) {
  if (name === undefined) return `  ${path}\n    npm test -- ${path}`;
  const pattern = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll("'", '.');
  return `  ${path}\n    ${name}\n    npm test -- ${path} -t '${pattern}'`;
}

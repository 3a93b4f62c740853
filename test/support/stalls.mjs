/**
 * The stall guard of the test servers: each server says in its log when something has held up its event loop for more
 * than 100 ms of processor time, and which requests were under way. What a run has seen of it stands at its end; it fails
 * the nightly run only, which has the machine for itself: beside other work the same takes several times as long.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The words of the log line, and what else in it is not known beforehand. */
const MARK = '"msg":"the event loop was held up"';

/** The directory of the run's set-up; undefined within the set-up itself, whose own server is not watched. */
export function supportHome() {
  const { GRID_TEST_SUPPORT: support } = process.env;
  return support === undefined ? undefined : JSON.parse(support).home;
}

/** Keeps in the directory the stalls that the server process writes into its log. */
export function collectStalls(child, directory) {
  if (directory === undefined) return;
  let rest = '';
  child.stderr.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.includes(MARK)) note(directory, JSON.parse(line));
  });
}

function note(directory, { stallMs, gcMs, requests }) {
  const { testPath = '', currentTestName = '' } = globalThis.expect?.getState() ?? {};
  const test = `${testPath.replace(/.*\/test\//, '')} ${currentTestName}`.trim();
  const underWay = requests.join(', ') || 'no request';
  const line = `  ${stallMs} ms (${gcMs} of them garbage collection) during "${test}", under way: ${underWay}`;
  appendFileSync(file(directory), `${line}\n`);
}

/** Lists the servers of the run that have stalled: how long, during which test, with which requests under way. Throws at night. */
export function judgeStalls(directory) {
  if (!existsSync(file(directory))) return;
  const text = `the event loop of a test server was held up:\n${readFileSync(file(directory), 'utf8')}`;
  if (process.env.GRID_TEST_NIGHTLY === 'true') throw new Error(text);
  process.stderr.write(`\n${text}`);
}

function file(directory) {
  return join(directory, 'stalls');
}

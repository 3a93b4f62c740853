/**
 * The stall guard of the test servers: each server says in its log when something has held up its event loop for more
 * than 100 ms of processor time, and which requests were under way. Whatever a run has seen of it makes the run fail,
 * unless it is the machine that is slow at that moment (see pace.mjs).
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atUsualPace } from './pace.mjs';

/** Longest stretch that is allowed, milliseconds on a processor of usual speed. */
const MOST_MS = 100;
/** The words of the log line, and what else in it is not known beforehand. */
const MARK = '"msg":"the event loop was held up"';

/**
 * Stalls that are known and about to be mended: `pattern` fits their description, `until` is the day (YYYY-MM-DD) from
 * which they fail the run again.
 */
const EXCEPTIONS = [];

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
  const stall = {
    stallMs,
    usualMs: Math.round(atUsualPace(stallMs)), // measured now, as near to it as can be
    gcMs,
    requests,
    testPath,
    test: `${testPath.replace(/.*\/test\//, '')} ${currentTestName}`,
  };
  appendFileSync(file(directory), `${JSON.stringify(stall)}\n`);
}

/** Throws when a server of the run has stalled: how long, during which test, with which requests under way; `suites` are the paths of their tests. */
export function refuseStalls(directory, exceptions = EXCEPTIONS) {
  const today = new Date().toISOString().slice(0, 10);
  const found = existsSync(file(directory))
    ? readFileSync(file(directory), 'utf8').trim().split('\n')
    : [];
  const open = exceptions.filter(({ until }) => today < until);
  const left = found
    .map((line) => JSON.parse(line))
    .filter(({ usualMs }) => usualMs > MOST_MS)
    .filter((stall) => !open.some(({ pattern }) => pattern.test(describe(stall))));
  if (left.length === 0) return;
  const failure = new Error(
    `the event loop of a test server was held up for more than ${MOST_MS} ms:\n${left.map(describe).join('\n')}`,
  );
  failure.suites = left.map(({ testPath }) => testPath);
  throw failure;
}

function describe({ stallMs, usualMs, gcMs, requests, test }) {
  return `  ${stallMs} ms (${usualMs} at the usual pace, ${gcMs} of them garbage collection) during "${test.trim()}", under way: ${requests.join(', ') || 'no request'}`;
}

function file(directory) {
  return join(directory, 'stalls.jsonl');
}

/**
 * npm test: the unit and api suites. With --database the api suites once on Debian's PostgreSQL (SCRAM over TCP with TLS and
 * a client certificate) and once through PgBouncer in transaction mode; GRID_TEST_DATABASE chooses one of them, for npm
 * test too. With --drills the suites of kills, overload and storms of writers, and the journeys in browser and terminal; with
 * --slurm the flows on a real one-node Slurm and a real object store. Tests that need a system package say which are missing and are left out; .ci/run
 * installs them, and with CI=true a missing one is a failure.
 *
 * With CI=true suites that failed run once more, alone, and the last line names them (decision 0328): it is red when one fails
 * twice, or when more than eight failed.
 *
 * GRID_TEST_UNTIL (seconds since 1970) is when the last drills and journeys may begin: what has not begun by then is left out
 * and named (decision 0499).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ALL_SEEN } from '../test/support/failed-suites.mjs';
import { buildWhenNeeded, root, run } from './run.mjs';

const NEEDS = [
  { program: 'nginx', tests: 'load balancer flows' },
  { program: 'haproxy', tests: 'load balancer flows' },
  { program: 'apache2', tests: 'a page behind mod_auth_openidc' },
  { program: 'oidc-agent', tests: 'oidc-agent as a client' },
  { program: 'xrootd', tests: 'xrootd takes our tokens' },
  { program: 'scitokens-verify', tests: 'scitokens-cpp reads our tokens' },
  { program: 'chromium', tests: 'browser flows' },
  { program: 'slurmctld', tests: 'Slurm flow (npm run test:slurm)' },
  { program: 'slurmdbd', tests: "usage by Slurm's accounting (npm run test:slurm)" },
  { program: 'sshd', tests: 'Slurm by ssh (npm run test:slurm)' },
  { program: 'radosgw', tests: 'S3 sandbox store flow' },
  { program: '/usr/lib/postgresql/*/bin/initdb', tests: 'connections to PostgreSQL' },
  { program: 'python3', tests: 'the Python package' },
  { program: 'pgbouncer', tests: 'work behind PgBouncer' },
  { program: 'openssl', tests: 'connections to PostgreSQL with TLS' },
];

const missing = NEEDS.filter(
  ({ program }) =>
    spawnSync('sh', ['-c', `PATH="$PATH:/usr/sbin:/sbin" command -v ${program}`]).status !== 0,
);
for (const { program, tests } of missing) {
  process.stderr.write(`not on this machine: ${program} — its tests are left out: ${tests}\n`);
}

/** Most suites of a run that may fail at first. */
const MOST_FAILED = 8;
/** What a run consists of. Each drill takes the whole machine: two at once would judge each other, not the service. */
const RUNS = {
  '--slurm': [['batch']],
  '--drills': [['drills', '--maxWorkers=1'], ['journeys']],
  '--database': [['api']],
};
/** Suites that begin together where a run has an end. */
const PART = 3;
/** What takes much longer than others begins so many seconds before the last ones, or is left out. */
const EARLIER_S = { 'test/flows/hostile-programs.flow-spec.ts': 1_500 };
const DAY_S = 86_400;
const DATABASES = { '--database': ['tls', 'pooler'] };
const chosen = process.argv.find((argument) => argument in RUNS);
const given = process.argv.slice(2).filter((argument) => argument !== chosen);
if (chosen) await buildWhenNeeded();
const jest = [
  '--experimental-vm-modules',
  '--no-warnings=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
const GRID_TEST_MISSING = missing.map(({ program }) => program).join(',');
const asked = process.env.GRID_TEST_DATABASE;
const until = Number(process.env.GRID_TEST_UNTIL || 'Infinity');
for (const database of asked ? [asked] : (DATABASES[chosen] ?? [''])) {
  if (chosen === '--database') process.stderr.write(`api suites, database: ${database}\n`);
  const env = { ...process.env, GRID_TEST_MISSING, GRID_TEST_DATABASE: database };
  if (chosen === '--drills' && given.length === 0 && Number.isFinite(until)) {
    await testInParts(env, RUNS[chosen]);
    continue;
  }
  const isChosen = given.includes('--selectProjects');
  for (const projects of isChosen ? [[]] : (RUNS[chosen] ?? [['unit', 'api']])) {
    const choice = isChosen ? [] : ['--selectProjects', ...projects];
    // A suite that is named is in one of the runs only.
    if (given.length > 0 && RUNS[chosen]?.length > 1) choice.push('--passWithNoTests');
    await test(env, [...given, ...choice]);
  }
}

/**
 * The suites of projects part by part, a part of each in turn, as long as one may begin; every day another suite of a project
 * is the first.
 */
async function testInParts(env, projects) {
  const { default: config } = await import('../jest.config.mjs');
  const day = Math.floor(Date.now() / 1000 / DAY_S);
  const rows = projects.map(([name, ...options]) => {
    const { testMatch } = config.projects.find(({ displayName }) => displayName === name);
    const paths = testMatch.map((path) => path.replace('<rootDir>/', ''));
    const first = day % paths.length;
    const choice = ['--selectProjects', name, ...options];
    return { choice, suites: [...paths.slice(first), ...paths.slice(0, first)] };
  });
  const most = { failed: MOST_FAILED };
  const mayBegin = (path) => Date.now() / 1000 < until - (EARLIER_S[path] ?? 0);
  const leftOut = [];
  while (rows.some(({ suites }) => suites.length > 0)) {
    for (const { choice, suites } of rows) {
      const part = suites.splice(0, PART);
      const paths = part.filter(mayBegin);
      leftOut.push(...part.filter((path) => !paths.includes(path)));
      if (paths.length > 0) await test(env, choice, { paths, most });
    }
  }
  if (leftOut.length === 0) return;
  process.stderr.write(`\nleft out, their time was over: ${leftOut.join(', ')}\n`);
}

async function test(env, args, { paths = [], most = { failed: MOST_FAILED } } = {}) {
  const all = paths.length > 0 ? [...args, '--runTestsByPath', ...paths] : args;
  if (process.env.CI !== 'true') return run('node', [...jest, ...all], { env });
  const directory = mkdtempSync(join(tmpdir(), 'gridgate-test-'));
  try {
    await testTwice(env, { args, all }, { list: join(directory, 'failed'), most });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function testTwice(env, { args, all }, { list, most }) {
  // What a failed suite has left open must not keep the run from its end.
  const end = args.includes('--forceExit') ? [] : ['--forceExit'];
  const reporters = ['--reporters=default', '--reporters=<rootDir>/test/support/failed-suites.mjs'];
  try {
    await run('node', [...jest, ...end, ...reporters, ...all], {
      env: { ...env, GRID_TEST_FAILED: list },
    });
  } catch (failure) {
    const lines = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : [];
    const failed = [...new Set(lines)].filter((path) => path !== '' && path !== ALL_SEEN);
    most.failed -= failed.length;
    // Of a run that died nobody knows which suites it had not come to.
    if (!lines.includes(ALL_SEEN) || failed.length === 0 || most.failed < 0) throw failure;
    const names = failed.map((path) => relative(root, path)).join(', ');
    process.stderr.write(`\nfailed, and run once more, each alone: ${names}\n`);
    const again = args.filter((argument) => !argument.startsWith('--maxWorkers'));
    await run(
      'node',
      [...jest, ...end, ...again, '--maxWorkers=1', '--runTestsByPath', ...failed],
      { env },
    );
    process.stderr.write(`\npassed only in the second run: ${names}\n`);
  }
}

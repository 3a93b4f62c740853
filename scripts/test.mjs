/**
 * npm test                 unit specs (one suite a module, so that its code is loaded once) and api suites (eight to a suite): needs Node only
 * npm test -- <paths>      these specs or suites alone, with any options of jest
 * npm run test:flows       the flow suites that .ci/run has (test/flows/lists.mjs); with paths these alone
 * npm run test:nightly -- --shard i/n   the i-th part of everything, with full counts and fresh seeds
 *
 * GRID_TEST_DATABASE=tls or pooler: the servers' database is Debian's PostgreSQL instead of the embedded one. Suites that need a
 * program which is not there say so and are left out; with GRID_TEST_ALL=true they run and fail. GRID_TEST_WORKERS=true: the jobs of
 * local sites are run by workers (for the flow suites array-kills, hostile-programs, job-dependencies, job-faults and job-limits).
 */
import { spawnSync } from 'node:child_process';
import { ALONE, CI_FLOWS, NIGHTLY_FLOWS } from '../test/flows/lists.mjs';
import { writeModuleSuites } from '../test/support/module-suites.mjs';
import { withoutQuarantined } from '../test/support/quarantine.mjs';
import { buildWhenNeeded, root } from './run.mjs';

const JEST = [
  '--experimental-vm-modules',
  '--no-warnings=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
  '--reporters=default',
  '--reporters=<rootDir>/test/support/red-list.mjs',
];

/** Flow suites have many processes each. */
const TWO_AT_ONCE = ['--maxWorkers=2'];

const [kind, ...given] = process.argv[2]?.startsWith('--of=')
  ? process.argv.slice(2)
  : ['--of=all', ...process.argv.slice(2)];
const paths = given.filter((argument) => /spec\.ts$/.test(argument));
const options = given.filter((argument) => !paths.includes(argument));

await buildWhenNeeded();
if (paths.length > 0) {
  alone(
    'flows',
    paths.filter((path) => path.includes('test/flows/')),
  );
  alone(
    'api',
    paths.filter((path) => path.includes('test/api/')),
  );
  alone(
    'unit',
    paths.filter((path) => !/test\/(api|flows)\//.test(path)),
  );
} else if (kind === '--of=flows') {
  alone('flows', CI_FLOWS, TWO_AT_ONCE);
} else if (kind === '--of=nightly') {
  const night = { GRID_TEST_NIGHTLY: 'true', GRID_TEST_ALL: 'true' };
  writeModuleSuites();
  jest(['modules', 'api'], [], night);
  jest(['api'], [], { ...night, GRID_TEST_DATABASE: 'pooler' });
  alone('flows', NIGHTLY_FLOWS, TWO_AT_ONCE, night);
  alone('flows', ALONE, ['--maxWorkers=1'], night);
} else {
  writeModuleSuites();
  jest(['modules', 'api-groups']);
}

/** Runs suites of a project. */
function alone(project, suites, more = [], environment = {}) {
  if (suites.length > 0) jest([project], [...more, '--runTestsByPath', ...suites], environment);
}

function jest(projects, more = [], environment = {}) {
  const all = paths.length > 0 ? [] : withoutQuarantined();
  const words = ['--selectProjects', ...projects, ...all, ...options, ...more];
  const { status } = spawnSync(process.execPath, [...JEST, ...words], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}

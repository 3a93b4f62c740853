/**
 * npm test: the unit and api suites. With --database the api suites once on Debian's PostgreSQL (SCRAM over TCP with TLS and
 * a client certificate) and once through PgBouncer in transaction mode; with --drills the suites of kills, overload and storms of writers, with --slurm the
 * flows on a real one-node Slurm and a real object store. Tests that need a system package say which are missing and are
 * left out; .ci/run installs them, and with CI=true a missing one is a failure.
 */
import { spawnSync } from 'node:child_process';
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
  { program: 'radosgw', tests: 'S3 sandbox store flow' },
  { program: '/usr/lib/postgresql/*/bin/initdb', tests: 'connections to PostgreSQL' },
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

const PROJECTS = { '--slurm': ['batch'], '--drills': ['drills'], '--database': ['api'] };
const DATABASES = { '--database': ['tls', 'pooler'] };
const chosen = process.argv.find((argument) => argument in PROJECTS);
const args = process.argv.slice(2).filter((argument) => argument !== chosen);
if (chosen) await buildWhenNeeded();
if (!args.includes('--selectProjects')) {
  args.push('--selectProjects', ...(chosen ? PROJECTS[chosen] : ['unit', 'api']));
}
// Each drill takes the whole machine: two at once would judge each other, not the service.
if (chosen === '--drills') args.push('--maxWorkers=1');
const jest = [
  '--experimental-vm-modules',
  '--no-warnings=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
const GRID_TEST_MISSING = missing.map(({ program }) => program).join(',');
for (const database of DATABASES[chosen] ?? [process.env.GRID_TEST_DATABASE ?? '']) {
  if (chosen === '--database') process.stderr.write(`api suites, database: ${database}\n`);
  const env = { ...process.env, GRID_TEST_MISSING, GRID_TEST_DATABASE: database };
  await run('node', [...jest, ...args], { cwd: root, env });
}

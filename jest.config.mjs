/**
 * Projects: `unit` runs rules in process; `api` starts the built server (dist/) as its own process and speaks to it
 * through real sockets; `drills` are its suites of kills, overload and storms of writers, `journeys` its long flows, both apart so that
 * `npm test` stays short; `batch` has a real Slurm and a real object store. All run as native ES modules.
 */
/** Flows on a real Slurm and a real object store: npm run test:slurm. */
const BATCH_FLOWS = [
  '<rootDir>/test/flows/job-life-slurm.flow-spec.ts',
  '<rootDir>/test/flows/slurm-accounts.flow-spec.ts',
  '<rootDir>/test/flows/slurm-accounting.flow-spec.ts',
  '<rootDir>/test/flows/slurm-places.flow-spec.ts',
  '<rootDir>/test/flows/slurm-priority.flow-spec.ts',
  '<rootDir>/test/flows/slurm-ssh.flow-spec.ts',
  '<rootDir>/test/flows/sandbox-s3.flow-spec.ts',
];

/**
 * What people do by command line, browser and page, from beginning to end: each takes its ten seconds and more. They judge what
 * is answered, not how fast: two at once.
 */
const JOURNEYS = [
  '<rootDir>/test/flows/command.flow-spec.ts',
  '<rootDir>/test/flows/command-login.flow-spec.ts',
  '<rootDir>/test/flows/command-jobs.flow-spec.ts',
  '<rootDir>/test/flows/command-verbs.flow-spec.ts',
  '<rootDir>/test/flows/command-admin.flow-spec.ts',
  '<rootDir>/test/flows/everyday-tasks.flow-spec.ts',
  '<rootDir>/test/flows/webhook-command.flow-spec.ts',
  '<rootDir>/test/flows/documentation.flow-spec.ts',
  '<rootDir>/test/flows/documentation-site.flow-spec.ts',
  '<rootDir>/test/flows/command-binary.flow-spec.ts',
  '<rootDir>/test/flows/browser-portal.flow-spec.ts',
  '<rootDir>/test/flows/browser-catalogue.flow-spec.ts',
  '<rootDir>/test/flows/browser-demo.flow-spec.ts',
  '<rootDir>/test/flows/browser-failure.flow-spec.ts',
  '<rootDir>/test/flows/browser-mission.flow-spec.ts',
  '<rootDir>/test/flows/browser-results.flow-spec.ts',
  '<rootDir>/test/flows/browser-pages.flow-spec.ts',
  '<rootDir>/test/flows/browser-usage.flow-spec.ts',
  '<rootDir>/test/flows/browser-admin.flow-spec.ts',
  '<rootDir>/test/flows/browser-form.flow-spec.ts',
  '<rootDir>/test/flows/browser-everyday.flow-spec.ts',
  '<rootDir>/test/flows/browser-elsewhere.flow-spec.ts',
  '<rootDir>/test/flows/swagger-authorize.flow-spec.ts',
  '<rootDir>/test/flows/load-balancer.flow-spec.ts',
  '<rootDir>/test/flows/storage-judges.flow-spec.ts',
  '<rootDir>/test/flows/openid-judges.flow-spec.ts',
  '<rootDir>/test/flows/python-package.flow-spec.ts',
];

/** Kills, overload, storms of writers, and what administrators do: npm run test:drills. */
const DRILLS = [
  '<rootDir>/test/flows/job-faults.flow-spec.ts',
  '<rootDir>/test/flows/job-limits.flow-spec.ts',
  '<rootDir>/test/flows/job-dependencies.flow-spec.ts',
  '<rootDir>/test/flows/array-kills.flow-spec.ts',
  '<rootDir>/test/flows/job-watch.flow-spec.ts',
  '<rootDir>/test/flows/feed-model.flow-spec.ts',
  '<rootDir>/test/flows/catalogue-feed-model.flow-spec.ts',
  '<rootDir>/test/flows/feed-kills.flow-spec.ts',
  '<rootDir>/test/flows/feed-judges.flow-spec.ts',
  '<rootDir>/test/flows/feed-streams.flow-spec.ts',
  '<rootDir>/test/flows/job-matching.flow-spec.ts',
  '<rootDir>/test/flows/share-simulation.flow-spec.ts',
  '<rootDir>/test/flows/demo-everywhere.flow-spec.ts',
  '<rootDir>/test/flows/hostile-programs.flow-spec.ts',
  '<rootDir>/test/flows/instance-loss.flow-spec.ts',
  '<rootDir>/test/flows/webhooks-instances.flow-spec.ts',
  '<rootDir>/test/flows/webhook-answers.flow-spec.ts',
  '<rootDir>/test/flows/database-loss.flow-spec.ts',
  '<rootDir>/test/flows/overload.flow-spec.ts',
  '<rootDir>/test/flows/large-data.flow-spec.ts',
  '<rootDir>/test/flows/flood.flow-spec.ts',
  '<rootDir>/test/flows/site-network.flow-spec.ts',
  '<rootDir>/test/flows/doctor.flow-spec.ts',
  '<rootDir>/test/flows/upgrade.flow-spec.ts',
  '<rootDir>/test/flows/backup-restore.flow-spec.ts',
  '<rootDir>/test/api/filecatalogue-writers.api-spec.ts',
];

const shared = {
  rootDir: '.',
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^#src/(.*)\\.js$': '<rootDir>/src/$1',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.grid', '<rootDir>/.stryker-tmp/'],
};

export default {
  testTimeout: 30_000,
  maxWorkers: 2,
  projects: [
    {
      ...shared,
      displayName: 'batch',
      testMatch: BATCH_FLOWS,
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
    {
      ...shared,
      displayName: 'drills',
      testMatch: DRILLS,
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
    {
      ...shared,
      displayName: 'journeys',
      testMatch: JOURNEYS,
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
    {
      ...shared,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/src/**/*.spec.ts',
        '<rootDir>/test/architecture/**/*.spec.ts',
        '<rootDir>/test/client/**/*.client-spec.ts',
      ],
    },
    {
      ...shared,
      displayName: 'api',
      testMatch: ['<rootDir>/test/api/**/*.api-spec.ts', '<rootDir>/test/flows/**/*.flow-spec.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        ...[...BATCH_FLOWS, ...DRILLS, ...JOURNEYS].map((path) => path.replace('<rootDir>', '')),
      ],
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
  ],
};

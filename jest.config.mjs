/**
 * Projects: `unit` has the specs beside the code, each alone by its path; `modules` the same as one suite a module
 * (test/support/module-suites.mjs); `api` speaks to the built server (dist/) through real sockets and needs Node only, `api-groups` are
 * the same, eight to a suite; `flows` are about processes, machines and programs that Debian has. All run as native ES modules.
 */
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

const onServers = {
  ...shared,
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

export default {
  // A test that waits for what never comes is red after this; it is no bound of how long anything takes.
  testTimeout: 300_000,
  // Suites wait as much as they compute: the third fills two processors.
  maxWorkers: 3,
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/src/**/*.spec.ts',
        '<rootDir>/test/architecture/**/*.spec.ts',
        '<rootDir>/test/client/**/*.client-spec.ts',
      ],
    },
    { ...shared, displayName: 'modules', testMatch: ['<rootDir>/test/modules/*.suite.ts'] },
    {
      ...onServers,
      displayName: 'api-groups',
      testMatch: ['<rootDir>/test/modules/api/*.suite.ts'],
    },
    { ...onServers, displayName: 'api', testMatch: ['<rootDir>/test/api/**/*.api-spec.ts'] },
    { ...onServers, displayName: 'flows', testMatch: ['<rootDir>/test/flows/**/*.flow-spec.ts'] },
  ],
};

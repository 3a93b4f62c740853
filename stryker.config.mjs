import jest from './jest.config.mjs';

/**
 * Mutation testing: Stryker changes the code, one place at a time, and a change that no test notices survives. It runs the
 * in-process specs only: what needs a built server (controllers, repositories, Nest modules) is judged by the API suites and
 * would cost a start of the server for each of its changes, so it is not in the lists. A part is run alone by
 * `npm run test:mutation -- --mutate "<file>,<file>"`.
 */
const PARTS = {
  // who somebody is, what a token or a request may ask for, and what is written on the pages that ask a person
  auth: [
    'src/auth/principal.ts',
    'src/auth/authorize/authorization-request.ts',
    'src/auth/authorize/authorize.steps.ts',
    'src/auth/authorize/pkce.ts',
    'src/auth/clients/redirect-uri.ts',
    'src/auth/device/user-code.ts',
    'src/auth/keys/key-schedule.ts',
    'src/auth/pages/consent-form.ts',
    'src/auth/pages/html.ts',
    'src/auth/token/oauth-parameters.ts',
    'src/auth/token/sign-jwt.ts',
    'src/auth/token/token-issuer.ts',
  ],
  // the only way a job changes its state; docs/job-states.md is printed from it
  'jobs/state': [
    'src/jobs/state/admission.ts',
    'src/jobs/state/job-state.ts',
    'src/jobs/state/job-states.page.ts',
    'src/jobs/state/job-transitions.ts',
  ],
  // who may see or change a job, a directory, a file
  policies: ['src/jobs/job.policy.ts', 'src/file-catalogue/catalogue.policy.ts'],
  // what a search of the catalogue means
  'metadata conditions': ['src/file-catalogue/metadata/metadata-condition.ts'],
  // names and defaults of the interface's client component
  'client constants': [
    'src/id-provider/constants.ts',
    'src/oauth2-client/session-options.ts',
    'src/http-client/request-arguments.ts',
  ],
};

const mutate = Object.values(PARTS).flat();
const unit = jest.projects.find(({ displayName }) => displayName === 'unit');

export default {
  plugins: ['@stryker-mutator/jest-runner'],
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  jest: {
    // Each file is judged by the specs of these files alone: a rule that only a distant test would miss counts as untested.
    config: {
      ...unit,
      projects: [],
      roots: ['<rootDir>/src'],
      testMatch: mutate.map((file) => `<rootDir>/${file.replace(/\.ts$/, '.spec.ts')}`),
    },
  },
  mutate,
  ignorePatterns: ['/dist', '/.grid*', '/.tools', '/bench', '/deploy', '/examples', '/reports'],
  concurrency: 1,
  timeoutMS: 20_000,
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  cleanTempDir: 'always',
  thresholds: { high: 95, low: 90, break: 85 },
};

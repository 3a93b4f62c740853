/**
 * Mutation testing: Stryker changes the code, one place at a time, and a change that no test notices survives. It runs the
 * in-process specs only: what needs a built server (controllers, repositories, Nest modules) is judged by the API suites and
 * would cost a start of the server for each of its changes, so it is not in the lists. A part is run alone by
 * `npm run test:mutation -- --mutate "<file>,<file>"`.
 */
const PARTS = {
  // who somebody is, what a token or a request may ask for, and what is written on the pages that ask a person
  auth: [
    'src/auth/access/access.guard.ts',
    'src/auth/authorize/authorization-request.ts',
    'src/auth/authorize/authorize.steps.ts',
    'src/auth/protocol/pkce.ts',
    'src/auth/protocol/scopes.ts',
    'src/auth/clients/client-authenticator.ts',
    'src/auth/protocol/redirect-uri.ts',
    'src/auth/device/user-code.ts',
    'src/auth/inspect/inspected-token.ts',
    'src/auth/keys/key-schedule.ts',
    'src/auth/sign-in/pages/consent-form.ts',
    'src/auth/sign-in/pages/html.ts',
    'src/auth/bearer/principal.ts',
    'src/auth/bearer/access-token.ts',
    'src/auth/bearer/external-grantee.ts',
    'src/auth/token/token.request.ts',
    'src/auth/token/grants/client-credentials.grant.ts',
    'src/auth/token/grants/code-binding.ts',
    'src/auth/token/grants/device-poll.ts',
    'src/auth/stores/refresh-rotation.ts',
    'src/auth/keys/sign-jwt.ts',
    'src/auth/token/grants/token-issuer.ts',
  ],
  // who has which certificate, group and setup
  registry: ['src/registry/store/registry-snapshot.ts'],
  // the only way a job changes its state; docs/job-states.md is printed from it
  'jobs/state': [
    'src/jobs/state/admission.ts',
    'src/jobs/state/job-state.ts',
    'src/jobs/state/job-states.page.ts',
    'src/jobs/state/job-transitions.ts',
  ],
  // who may see or change a job, a directory, a file
  policies: ['src/jobs/access/job.policy.ts', 'src/file-catalogue/access/catalogue.policy.ts'],
  // what a search of the catalogue means
  'metadata conditions': ['src/file-catalogue/metadata/metadata-condition.ts'],
  // which groups the claims of an identity provider stand for
  claims: [
    'src/id-provider/provider/entitlement.ts',
    'src/id-provider/provider/group-scopes.ts',
    'src/id-provider/provider/user-claims.ts',
  ],
  // names and defaults of the interface's client component
  'client constants': [
    'src/id-provider/verify/constants.ts',
    'src/oauth2-client/session-options.ts',
    'src/http-client/session/request-arguments.ts',
  ],
};

const mutate = Object.values(PARTS).flat();

export default {
  plugins: ['@stryker-mutator/mocha-runner'],
  // Jest would load everything again for each change; Mocha loads it once and only switches the change on.
  testRunner: 'mocha',
  buildCommand: 'node scripts/mutation-build.mjs',
  mochaOptions: {
    require: ['./scripts/mutation-specs.mjs'],
    // Each file is judged by the specs of these files alone: a rule that only a distant test would miss counts as untested.
    spec: mutate.map((file) => `dist/${file.replace(/\.ts$/, '.spec.js')}`),
  },
  coverageAnalysis: 'perTest',
  mutate,
  ignorePatterns: ['/dist', '/.grid*', '/.tools', '/bench', '/deploy', '/examples', '/reports'],
  concurrency: 1,
  timeoutMS: 20_000,
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  cleanTempDir: 'always',
  thresholds: { high: 95, low: 90, break: 85 },
};

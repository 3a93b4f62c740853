/** Writes the generated pages of docs/ from the built code; with --check only tells whether they are up to date. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandPage } from './documentation/command-page.mjs';
import { root } from './run.mjs';

const { AUDIT_EVENTS, VARIABLES } = await import('#src/platform/index.js');
const { PROBLEM_CODES } = await import('#src/kernel/index.js');
const { renderJobStates, renderManifestKeys } = await import('#src/jobs/index.js');
const { conformancePage } = await import('../test/support/conformance/index.mjs');
const { WARNING_CODES } = await import('#src/jobs/manifest/manifest-warning.js');

function problemPage(codes, warnings) {
  const rows = Object.entries(codes)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, title }]) => `| \`${code}\` | ${status} | ${title} |`);
  return [
    '# Errors',
    '',
    'Generated from `src/kernel/problem-codes.ts`; do not edit. Errors are `application/problem+json` (RFC 9457) with',
    'the members `type`, `title`, `status`, `detail`, `code`, `instance` and, for bad input, `violations`. Below `/oauth2`',
    'they are `application/json` and also carry `error` and `error_description` (RFC 6749 §5.2).',
    '',
    '| code | status | title |',
    '|---|---|---|',
    ...rows,
    '',
    '## Warnings',
    '',
    'A submit that is accepted, and a dry run, may answer `warnings`: objects with `code`, `detail` and `pointer` (RFC 6901, into',
    'the manifest or, of several manifests, into `{"manifests": […]}`); at most 100 of one request.',
    '',
    '| code | meaning |',
    '|---|---|',
    ...Object.entries(warnings).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
    '',
  ].join('\n');
}

function configurationPage() {
  const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\\\\|', '\\|');
  const rows = Object.values(VARIABLES).map((variable) => {
    const fallback = variable.defaultText === '' ? '' : variable.defaultText;
    const shown = fallback === '' || /[ `]/.test(fallback) ? fallback : `\`${fallback}\``;
    const secret = variable.secret ? ' **Secret.**' : '';
    return `| \`${variable.name}\` | ${variable.kind} | ${cell(shown)} | ${cell(variable.description)}.${secret} |`;
  });
  return [
    '# Configuration',
    '',
    'Generated from `src/platform/config/env.ts`; do not edit. Every setting is an environment variable, read once at',
    'start. A bad value stops the start with a message that names the variable, what is wrong and what is expected.',
    '',
    '| variable | kind | default | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function auditPage() {
  const rows = Object.entries(AUDIT_EVENTS).map(([event, { text, details }]) => {
    const names = details.map((name) => `\`${name}\``).join(' ');
    return `| \`${event}\` | ${text} | ${names} |`;
  });
  return [
    '# Audit trail',
    '',
    'Generated from `src/platform/observe/audit/audit-events.ts`; do not edit. Who did what is a log line (JSON, standard error) of its own',
    'with `"channel":"audit"`, written whatever `GRID_LOG_LEVEL` is, `silent` excepted. Send these lines to a store that the',
    'service cannot change. Commands of administrators append theirs to `GRID_HOME/logs/audit.log`, with the `account` that ran them.',
    '',
    'Fields stay: `time` · `event` · `outcome` (`done` or `refused`, then with the `code` of docs/errors.md) · `requestId` (the',
    '`X-Request-Id` of the answer) · `address` (the client’s: `X-Forwarded-For` is believed from `GRID_TRUSTED_PROXIES` only) · `user` ·',
    '`group` · `setup` · `client` (the application; `certificate` for tokens by certificate), as far as they are known, and those of the',
    'event. `jids` are shortened: `["7", "10-12"]`. Calls that never get to the operation, for want of a good',
    'token or its scope, are in the access log only. Tokens, codes, secrets and bodies are never in a line; `tokenId` is the `jti` of',
    'the token and `consent` the id that all tokens of one consent share. `gridgate_audit_events_total` counts the lines.',
    '',
    '| event | meaning | fields |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

const THINGS = ['<!-- rows: begin -->', '<!-- rows: end -->'];

/** The tables of what hostile programs try, between their marks in a page that is written by hand. */
async function whatAJobCanDo(path) {
  const { thingsTables } = await import('../test/support/hostile/things/index.mjs');
  const [begin, end] = THINGS;
  const text = readFileSync(join(root, path), 'utf8');
  const [before, rest = ''] = text.split(begin);
  const after = rest.split(end)[1];
  if (after === undefined) throw new Error(`${path} has lost its marks ${THINGS.join(' ')}`);
  return [before, begin, '\n\n', thingsTables().join('\n'), '\n', end, after].join('');
}

const JOB_PAGE = 'docs/explanation/what-a-job-can-do.md';
const pages = {
  [JOB_PAGE]: await whatAJobCanDo(JOB_PAGE),
  'docs/audit.md': auditPage(),
  'docs/command-reference.md': await commandPage(),
  'docs/conformance.md': conformancePage(),
  'docs/errors.md': problemPage(PROBLEM_CODES, WARNING_CODES),
  'docs/configuration.md': configurationPage(),
  'docs/job-states.md': renderJobStates(),
  'docs/manifest.md': renderManifestKeys(),
};

let stale = 0;
for (const [path, text] of Object.entries(pages)) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  stale += 1;
  if (process.argv.includes('--check')) process.stderr.write(`${path} is not up to date\n`);
  else writeFileSync(file, text);
}
if (stale > 0 && process.argv.includes('--check')) process.exit(1);

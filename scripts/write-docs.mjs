/** Writes the generated pages of docs/ from the built code; with --check only tells whether they are up to date. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const { AUDIT_EVENTS } = await import('#src/audit/index.js');
const { VARIABLES } = await import('#src/config/index.js');
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
    'they are `application/json` and also carry `error` and `error_description` (RFC 6749 §5.2). `error` is the one of the header',
    '`WWW-Authenticate`; where no token was sent, that header names none and `error` is `invalid_request`.',
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
    'Generated from `src/config/env.ts`; do not edit. Every setting is an environment variable, read once at',
    'start. A bad value stops the start with a message that names the variable, what is wrong and what is expected.',
    '',
    '| variable | kind | default | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

const SEARCH_OF_AUDIT = [
  '## Search it',
  '',
  'The database keeps the lines of all instances and commands for `GRID_AUDIT_RETENTION` days (90; 0 keeps none). `GET /admin/audit` searches',
  'them, newest first, with a token that has the scope `admin`, which must be asked for by name and is given to groups with',
  '`ServiceAdministrator` only. Every search is a line itself (`audit.read`).',
  '',
  '<!-- not run: test/api/audit-search.api-spec.ts does -->',
  '',
  '```sh',
  'curl -H "Authorization: Bearer $TOKEN" "$GRID/admin/audit?event=job.*&user=alice&since=2026-01-02"',
  '```',
  '',
  '| filter | meaning |',
  '|---|---|',
  '| `event` | `job.killed`, or all that begin so: `job.*`; may be repeated |',
  '| `user` `group` | by whom, in which group; for `user` also the account that ran a command; may be repeated |',
  '| `outcome` | `done` or `refused` |',
  '| `since` `until` | at or after, and before, an instant or day (UTC) |',
  '| `where` | `key=value`: any other field is this, or has it among several; `jids=7` finds `5-9`, too; repeated ones all apply |',
  '| `maxEvents` `before` | at most so many (100, at most 1000); `next` of the answer before, for older ones |',
  '',
  'The answer is `{"events": […], "next"}`; each event has `id`, `time`, `instance` (host and port, or the host on which a command ran), `event`,',
  '`outcome`, `user`, `group`, `client` and all other fields in `details`. Time, events, users and refusals have indexes; with `group` or `where` alone a long',
  'time is read line by line: give `since`, `event` or `user` beside them. `gridgate admin audit` searches the same by command, without a token;',
  'lines of a log are JSON, for `jq`.',
  '',
  'The log stays the authoritative trail. Lines reach the database within a second, and no request waits for it: what a crash takes is at most the last',
  'second of one instance; a regular stop writes everything. While the database is away an instance keeps 10,000 lines (16 MiB) for it and tries again;',
  'further ones are in the log only, which a warning of the log and `gridgate_audit_dropped_total` tell (`gridgate_audit_waiting`: those that wait).',
  'There, fields are cut after 4,000 characters. Whoever may change the database may change what it keeps.',
  '',
];

function auditPage() {
  const rows = Object.entries(AUDIT_EVENTS).map(([event, { text, details }]) => {
    const names = details.map((name) => `\`${name}\``).join(' ');
    return `| \`${event}\` | ${text} | ${names} |`;
  });
  return [
    '# Audit trail',
    '',
    'Generated from `src/audit/audit-events.ts`; do not edit. Who did what is a log line (JSON, standard error) of its own',
    'with `"channel":"audit"`, written whatever `GRID_LOG_LEVEL` is, `silent` excepted. Send these lines to a store that the',
    'service cannot change. Commands of administrators append theirs to `GRID_HOME/logs/audit.log`, with the `account` that ran them.',
    '',
    ...SEARCH_OF_AUDIT,
    '## Fields',
    '',
    'Fields stay: `time` · `event` · `outcome` (`done` or `refused`, then with the `code` of docs/errors.md) · `requestId` (the',
    '`X-Request-Id` of the answer) · `address` (the client’s: `X-Forwarded-For` is believed from `GRID_TRUSTED_PROXIES` only) · `user` ·',
    '`group` · `setup` · `client` (the application; `certificate` for tokens by certificate) · `claimedClient` (the application that a',
    'request was refused as, which did not prove to be it), as far as they are known, and those of the event. `jids` are shortened: `["7", "10-12"]`. Calls that never get to the operation, for want of a good',
    'token or its scope, are in the access log only. Tokens, codes, secrets and bodies are never in a line; `tokenId` is the `jti` of',
    'the token and `consent` the id that all tokens of one consent share. `gridgate_audit_events_total` counts the lines.',
    '',
    '## Events',
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

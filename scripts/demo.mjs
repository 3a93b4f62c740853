/**
 * npm run demo: starts the server on its embedded defaults and walks through the main job for real, over HTTPS:
 * token by certificate, submit with two input files, watch to Done, fetch and unpack the output, search the
 * catalogue. Each step prints the curl line that does the same, and its answer. The server stays up.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { gunzipSync } from 'node:zlib';
import { buildWhenNeeded, root } from './run.mjs';

await buildWhenNeeded();
const { Agent, FormData, request } = await import('undici');
const tar = await import('tar-stream');

const home = resolve(process.env.GRID_HOME || '.grid');
const bold = (text) => (process.stdout.isTTY ? `\u001b[1m${text}\u001b[0m` : text);
const dim = (text) => (process.stdout.isTTY ? `\u001b[2m${text}\u001b[0m` : text);
const say = (text = '') => process.stdout.write(`${text}\n`);

/** The demo's own job: where jobs cannot be isolated nothing else is run. */
const COUNT = `#!/bin/sh
echo "counting on $(hostname)"
sort words.txt | uniq -c | sort -rn > counts.txt
cat counts.txt
`;
const WORDS = 'muon\nelectron\nmuon\nphoton\nmuon\nelectron\n';

/** Whoever has the link that is printed at the end may go on as a user of the demo; another start has another. */
const key = randomBytes(24).toString('base64url');
const signIn = await signInOfDemo();

const server = spawn(process.execPath, [join(root, 'dist/src/main.js')], {
  stdio: ['ignore', 'pipe', 'pipe'],
  env: { GRID_LOG_LEVEL: 'warn', ...signIn, ...(await isolationOfDemo()), ...process.env },
});
let leaving = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    if (!leaving) say('\nstopping the server…');
    leaving = true;
    server.kill('SIGTERM');
  });
}
// The audit trail is written at every log level; the walk shows what it records by itself.
createInterface({ input: server.stderr }).on('line', (line) => {
  if (!line.includes('"channel":"audit"')) process.stderr.write(`${line}\n`);
});
server.on('exit', (code) => process.exit(leaving ? process.exitCode : (code ?? 1)));

const url = await new Promise((done) => {
  let text = '';
  server.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    const match = /gridgate ready on (\S+)/.exec(text);
    if (match) done(match[1]);
  });
});

const pki = (name) => join(home, 'pki', name);
const read = (name) => readFile(pki(name), 'utf8');
const ca = await read('ca.crt');
const dispatcher = new Agent({ connect: { ca } });
const withCertificate = new Agent({
  connect: { ca, cert: await read('alice.crt'), key: await read('alice.key') },
});
const folder = join(home, 'demo');
await mkdir(folder, { recursive: true });
const headerFile = join(folder, 'authorization');
const quote = (text) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
const curl = (...words) =>
  ['curl', '-sS', '--cacert', pki('ca.crt'), ...words].map(quote).join(' ');
const withToken = ['-H', `@${headerFile}`];
let token = '';

async function call(path, options = {}) {
  const answer = await request(`${url}${path}`, {
    dispatcher,
    headers: token ? { authorization: `Bearer ${token}` } : {},
    ...options,
  });
  const body = Buffer.from(await answer.body.arrayBuffer());
  if (answer.statusCode !== 200) {
    throw new Error(`${path} answered ${answer.statusCode}: ${body.toString('utf8')}`);
  }
  return body;
}

/** Nothing where it would be refused: beyond this machine, or beside a registry of one's own. */
async function signInOfDemo() {
  const { readConfig } = await import('#src/config/index.js');
  const wanted = { GRID_DEMO_SIGN_IN: key };
  try {
    readConfig({ ...process.env, ...wanted });
    return wanted;
  } catch {
    return {};
  }
}

/** Where jobs cannot be isolated the demo alone runs them without, and says so. */
async function isolationOfDemo() {
  if (process.env.GRID_LOCAL_ISOLATION) return {};
  const { readConfig } = await import('#src/config/index.js');
  const { describeLocalIsolation } = await import('#src/worker/index.js');
  const { level } = await describeLocalIsolation(readConfig(process.env));
  if (level !== 'off') return {};
  say(
    'Jobs cannot be isolated on this machine: the demo runs its own job without (level none), and refuses all others.',
  );
  const digest = (text) => createHash('sha256').update(text).digest('hex');
  return {
    GRID_LOCAL_ISOLATION: 'none',
    GRID_LOCAL_PROGRAMS: [COUNT, WORDS].map(digest).join(','),
  };
}

const json = (body) => JSON.parse(body.toString('utf8'));

function step(number, title, line) {
  say();
  say(bold(`${number}. ${title}`));
  say(dim(`$ ${line}`));
}

function show(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  for (const line of text.trimEnd().split('\n')) say(`  ${line}`);
}

async function unpack(archive) {
  const files = new Map();
  const extract = tar.extract();
  extract.end(gunzipSync(archive));
  for await (const entry of extract) {
    const chunks = [];
    for await (const chunk of entry) chunks.push(chunk);
    files.set(entry.header.name, Buffer.concat(chunks).toString('utf8'));
  }
  return files;
}

async function getToken() {
  const path = '/oauth2/token?grant_type=client_credentials&group=grid_user&setup=Prod';
  const line = curl('--cert', pki('alice.crt'), '--key', pki('alice.key'), `${url}${path}`);
  step(1, 'A token for alice, by her certificate, for the group grid_user in the setup Prod', line);
  const answer = json(await call(path, { dispatcher: withCertificate }));
  token = answer.access_token;
  await writeFile(headerFile, `Authorization: Bearer ${token}\n`, { mode: 0o600 });
  const short = `${token.slice(0, 24)}…`;
  show({ ...answer, access_token: short, token: short });
  say(dim(`  (the next lines read the token from ${headerFile})`));
}

async function submit() {
  const script = join(folder, 'count.sh');
  const words = join(folder, 'words.txt');
  await writeFile(script, COUNT, { mode: 0o755 });
  await writeFile(words, WORDS);
  const manifest = {
    JobName: 'word-count',
    Executable: 'count.sh',
    InputSandbox: ['count.sh', 'words.txt'],
    OutputSandbox: ['std.out', 'std.err', 'counts.txt'],
  };
  const line = curl(
    ...withToken,
    '-F',
    `manifest=${JSON.stringify(manifest)}`,
    '-F',
    `file=@${script}`,
    '-F',
    `file1=@${words}`,
    `${url}/jobs`,
  );
  step(2, 'A job with two input files', line);
  const form = new FormData();
  form.set('manifest', JSON.stringify(manifest));
  form.set('file', new Blob([await readFile(script)]), 'count.sh');
  form.set('file1', new Blob([await readFile(words)]), 'words.txt');
  const answer = json(await call('/jobs', { method: 'POST', body: form }));
  show(answer);
  return answer.jids[0];
}

async function watch(jid) {
  step(3, 'Watch it', curl(...withToken, `${url}/jobs/${jid}`));
  let last = '';
  for (;;) {
    const job = json(await call(`/jobs/${jid}`));
    const state = `${job.status} (${job.minorStatus})`;
    if (state !== last)
      show(`${job.jid} ${job.name} ${state}${job.site === 'ANY' ? '' : ` at ${job.site}`}`);
    last = state;
    if (job.status === 'Done') return;
    if (['Failed', 'Killed', 'Deleted'].includes(job.status))
      throw new Error(`the job ended ${state}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function output(jid) {
  const path = `/jobs/${jid}/outputsandbox`;
  const line = `${curl(...withToken, `${url}${path}`)} | tar xzvf - -C ${quote(folder)}`;
  step(4, 'Fetch and unpack its output', line);
  const files = await unpack(await call(path));
  for (const [name, text] of files) {
    await writeFile(join(folder, name), text);
    show(`${name}:`);
    show(text === '' ? '  (empty)' : text.replace(/^/gm, '  '));
  }
}

async function search() {
  const directory = Buffer.from('/vo').toString('base64url');
  const conditions = [
    ['energy', '>|50'],
    ['particle', 'in|e'],
  ];
  const path = `/filecatalogue/directory/${directory}/search`;
  const words = conditions.flatMap(([key, value]) => ['--data-urlencode', `${key}=${value}`]);
  const line = curl('-G', ...withToken, ...words, `${url}${path}`);
  step(5, 'Search the catalogue: directories below /vo with energy > 50 and particle e', line);
  show(json(await call(`${path}?${new URLSearchParams(conditions)}`)));
  const compatible = '/filecatalogue/metadata?particle=in%7Cmu';
  step(
    6,
    'Which values are compatible with particle mu?',
    curl(...withToken, `${url}${compatible}`),
  );
  show(json(await call(compatible)));
}

try {
  await getToken();
  const jid = await submit();
  await watch(jid);
  await output(jid);
  await search();
} catch (error) {
  process.stderr.write(`demo: ${error.message}\n`);
  process.exitCode = 1;
  leaving = true;
  server.kill('SIGTERM');
  await once(server, 'exit');
}

say();
say(bold('The server stays up (Ctrl-C ends it):'));
say(`  service      ${url}`);
const ownHome = process.env.GRID_HOME ? `, with GRID_HOME=${process.env.GRID_HOME}` : '';
const isOpen = signIn.GRID_DEMO_SIGN_IN !== undefined;
if (isOpen) say(`  Portal       ${url}/portal/demo/${key} (no certificate needed)`);
else say(`  Portal       ${url}/portal/`);
say(
  `  Swagger UI   ${url}/docs${isOpen ? ' (open the portal first: its link signs you in here, too)' : ''}`,
);
say(`  OpenAPI      ${url}/docs/openapi.json`);
say(`  health       ${url}/health/ready`);
say(`  command      in another terminal of this directory: npx gridgate --help${ownHome}`);
say(`  certificates ${pki('')} (alice, bob, carol, mona, adam, fred, stranger; CA ca.crt)`);

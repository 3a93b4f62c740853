/** Files that come to a job and go from it, beside curl at the same storage. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../scripts/run.mjs';
import { runToEnd, startUntil } from './frame/processes.mjs';

const FILES = 1_000;
const BYTES = 1_000_000;
/** As a worker sends and fetches. */
const PARALLEL = '8';
const IN = '/vo/in';
const POLL_MS = 50;

async function siteOf(bench) {
  const directory = await bench.directory();
  await mkdir(join(directory, IN), { recursive: true });
  const bytes = Buffer.alloc(BYTES, 'bytes of a file ');
  const names = Array.from({ length: FILES }, (_, n) => `f${n}`);
  for (const name of names) await writeFile(join(directory, IN, name), bytes);
  const script = join(root, 'bench/frame/storage-process.mjs');
  const adler = join(root, 'dist/src/storage-client/index.js');
  const { match, stop } = await startUntil([script, directory, adler], /port (\d+)/);
  bench.opened.push(stop);
  const url = `http://localhost:${match[1]}`;
  const env = {
    GRID_ROLE: 'all',
    GRID_MAX_INPUT_DATA: String(FILES),
    GRID_MAX_SANDBOX: '2000000000',
  };
  const server = await bench.server({ name: 'data', env });
  await bench.sql(
    server.database,
    `update registry_storage_element set url = $1, kind = 'webdav', vos = '{vo}' where name = 'SE-A'`,
    [`${url}/vo`],
  );
  const token = await server.token('alice');
  const lines = names.map((name) => ({
    kind: 'file',
    path: `${IN}/${name}`,
    size: BYTES,
    replicas: [{ se: 'SE-A' }],
  }));
  await server.call('POST', '/filecatalogue/bulk', {
    token: await server.token('fred'),
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  });
  return { server, token, url, names, directory };
}

/** Seconds of a job between the first entry of its history with one minor status and the next with another status. */
async function secondsOf({ server, token }, manifest, minor) {
  const { body } = await server.call('POST', '/jobs', { token, json: manifest });
  const [jid] = body.jids;
  for (;;) {
    const { status, minorStatus, appStatus } = (await server.call('GET', `/jobs/${jid}`, { token }))
      .body;
    if (status === 'Failed') throw new Error(`${minorStatus}: ${appStatus}`);
    if (status === 'Done') break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const { history } = (await server.call('GET', `/jobs/${jid}/history`, { token })).body;
  const begin = history.findIndex(({ minorStatus }) => minorStatus === minor);
  return (Date.parse(history[begin + 1].time) - Date.parse(history[begin].time)) / 1000;
}

/** Seconds of curl with these words for each file. */
async function curl(bench, words) {
  const file = join(await bench.directory(), 'curl');
  await writeFile(file, words.map((line) => `${line}\n`).join('next\n'));
  const began = performance.now();
  await runToEnd('curl', ['-sS', '--parallel', '--parallel-max', PARALLEL, '-K', file]);
  return (performance.now() - began) / 1000;
}

const perSecond = (seconds) => ({ value: FILES / seconds });

export const figures = [
  {
    name: 'data.in',
    title: `${FILES} files of 1 MB to a job`,
    unit: 'files/s',
    better: 'higher',
    floor: `curl --parallel-max ${PARALLEL}, which compares nothing`,
    async prepare(bench) {
      const site = await bench.once('data', () => siteOf(bench));
      const manifest = {
        ...{ Executable: '/bin/true', OutputSandbox: [] },
        InputData: site.names.map((name) => `${IN}/${name}`),
      };
      return {
        figure: async () => perSecond(await secondsOf(site, manifest, 'Input Data Resolution')),
        floor: async () => {
          const to = await bench.directory();
          const words = site.names.map(
            (name) => `url = ${site.url}${IN}/${name}\noutput = ${to}/${name}`,
          );
          const seconds = await curl(bench, words);
          await rm(to, { recursive: true });
          return perSecond(seconds);
        },
      };
    },
  },
  {
    name: 'data.out',
    title: `${FILES} files of 1 MB from a job, compared and registered`,
    unit: 'files/s',
    better: 'higher',
    floor: `curl --parallel-max ${PARALLEL}, which compares nothing`,
    async prepare(bench) {
      const site = await bench.once('data', () => siteOf(bench));
      const command = `for n in $(seq ${FILES}); do head -c ${BYTES} /dev/zero > $n.dat; done`;
      const manifest = {
        ...{ Executable: '/bin/sh', Arguments: ['-c', command], OutputSandbox: [] },
        OutputData: ['*.dat'],
      };
      const clean = async () => {
        for (const name of await readdir(join(site.directory, 'vo')))
          if (name !== 'in') await rm(join(site.directory, 'vo', name), { recursive: true });
      };
      return {
        figure: async () => {
          const seconds = await secondsOf(site, manifest, 'Uploading Job Outputs');
          await clean();
          return perSecond(seconds);
        },
        floor: async () => {
          const words = site.names.map(
            (name) =>
              `url = ${site.url}/vo/curl/${name}\nupload-file = ${site.directory}${IN}/${name}`,
          );
          const seconds = await curl(bench, words);
          await clean();
          return perSecond(seconds);
        },
      };
    },
  },
];

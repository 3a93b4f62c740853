/** Memory of the server: after load, and with a sandbox larger than it may ever hold. */

export const options = {
  'sandbox-mib': { default: '1024', description: 'size of the sandbox file, MiB' },
};

const MIB = 2 ** 20;
const BOUNDARY = 'gridgate-bench';

const afterRun = {
  name: 'memory.after-run',
  title: 'resident memory of the server after the load of this run and 30 s more of it',
  unit: 'MiB',
  better: 'lower',
  rounds: 1,
  warmUp: false,
  async prepare(bench) {
    const server = await bench.server();
    const token = await server.token('alice');
    const paths = ['/jobs?maxJobs=100', '/filecatalogue/metadata', '/health/ready'];
    return {
      figure: async () => {
        await bench.load({ server, paths, token, connections: 64, seconds: 30 });
        const { now, peak } = await server.memory();
        return { value: now, note: `peak ${Math.round(peak)} MiB` };
      },
    };
  },
};

const sandbox = {
  name: 'memory.sandbox',
  title: 'growth of the server while a sandbox goes up and comes down',
  unit: 'MiB',
  better: 'lower',
  rounds: 1,
  warmUp: false,
  async prepare(bench) {
    const bytes = Number(bench.options['sandbox-mib']) * MIB;
    const env = { GRID_MAX_SANDBOX: String(2 * bytes) };
    const server = await bench.server({ name: 'sandbox', env });
    const token = await server.token('alice');
    return {
      figure: async () => {
        const before = (await server.memory()).now;
        const up = await timed(() => upload(server, token, bytes));
        const down = await timed(() => download(server, token, up.result));
        const { peak } = await server.memory();
        const rate = (seconds) => `${Math.round(bytes / MIB / seconds)} MiB/s`;
        const note = `${bytes / MIB} MiB: up ${rate(up.seconds)}, down ${rate(down.seconds)}`;
        return { value: peak - before, note };
      },
    };
  },
};

async function timed(work) {
  const started = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - started) / 1000 };
}

async function upload(server, token, bytes) {
  const manifest = JSON.stringify({ Executable: '/bin/true', InputSandbox: ['big'] });
  const answer = await server.call('POST', '/jobs', {
    token,
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: multipart(manifest, bytes),
  });
  return answer.body.jids[0];
}

/** The parts as a stream: the file is made as it is sent, half of it compressible. */
async function* multipart(manifest, bytes) {
  const part = (head) => Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}`);
  yield part(`name="manifest"\r\n\r\n${manifest}\r\n`);
  yield part('name="file"; filename="big"\r\nContent-Type: application/octet-stream\r\n\r\n');
  const block = Buffer.alloc(MIB);
  crypto.getRandomValues(block.subarray(0, 65_536));
  for (let i = 1; i < 8; i += 1) block.copyWithin(i * 65_536, 0, 65_536);
  for (let sent = 0; sent < bytes; sent += MIB) {
    block.writeDoubleLE(sent, 0); // no two blocks are the same
    yield block.subarray(0, Math.min(MIB, bytes - sent));
  }
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
}

async function download(server, token, jid) {
  return server.swallow(`/jobs/${jid}/inputsandbox`, token);
}

export const figures = [afterRun, sandbox];

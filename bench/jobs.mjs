/** Figures of jobs. */

const MANIFEST = {
  Executable: '/bin/true',
  Arguments: '',
  JobName: 'bench',
  Sites: ['LOCAL.demo'],
};

async function submitted(server, token, count) {
  const json = { manifests: Array.from({ length: count }, () => MANIFEST) };
  const answer = await server.call('POST', '/jobs', { token, json });
  return answer.body.jids;
}

const read = {
  name: 'jobs.read',
  title: 'GET /jobs/<jid>, verified token, keep-alive TLS',
  unit: 'req/s',
  better: 'higher',
  floor: 'bare node:https + one prepared select of the same row',
  async prepare(bench) {
    const server = await bench.server();
    const token = await server.token('alice');
    const jids = await submitted(server, token, 500);
    const paths = jids.map((jid) => `/jobs/${jid}`);
    const bare = await bench.bare({
      database: server.database,
      text: 'select * from jobs where jid = $1',
      values: jids.map((jid) => [jid]),
    });
    return {
      figure: (seconds) => bench.load({ server, paths, token, seconds }),
      floor: (seconds) => bench.load({ server: bare, paths, seconds }),
      finish: () => bare.stop(),
    };
  },
};

export const figures = [read];

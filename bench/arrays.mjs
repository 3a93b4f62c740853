/** Arrays of 10,000 members: submit, counts, kill and retry, each a request; and what they cost in the database. */
const MEMBERS = 10_000;
const MANIFEST = {
  ...{ Executable: '/bin/true', JobName: 'bench-%n', Sites: ['LOCAL.demo'] },
  ...{ Parameters: MEMBERS, array: true },
};
/** What a job has without an array too: its record and its history, with what counts and announces them. */
const OF_JOBS = ['jobs', 'job_history'];
const OF_ARRAYS = ['job_arrays', 'job_templates', 'job_descriptions'];

const SECONDS = 1000;

async function prepareServer(bench) {
  const server = await bench.server({
    name: 'arrays',
    env: { GRID_MAX_PARAMETRIC_JOBS: `${MEMBERS}` },
  });
  return { server, token: await server.token('alice') };
}

async function submit({ server, token }) {
  const { body } = await server.call('POST', '/jobs', { token, json: MANIFEST });
  return body.arrayId;
}

/** A figure whose value is the median of single requests; `ready` makes what each is about. */
function timed(name, title, { ready, call }) {
  return {
    name: `arrays.${name}`,
    title: `${title}, an array of ${MEMBERS}`,
    unit: 'ms',
    better: 'lower',
    floor: 'GET /jobs?maxJobs=1 of the same server',
    async prepare(bench) {
      const at = await prepareServer(bench);
      const rounds =
        (one, before = () => undefined) =>
        async (seconds) => {
          const times = [];
          for (const end = Date.now() + seconds * SECONDS; times.length < 3 || Date.now() < end;) {
            const subject = await before();
            const start = performance.now();
            await one(subject);
            times.push(performance.now() - start);
          }
          times.sort((a, b) => a - b);
          const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
          return { value: at(0.5), p50: at(0.5), p99: at(0.99) };
        };
      const { server, token } = at;
      return {
        figure: rounds(
          (id) => call(at, id),
          () => ready?.(bench, at),
        ),
        floor: rounds(() => server.call('GET', '/jobs?maxJobs=1', { token })),
      };
    },
  };
}

const arrayCall =
  (method, rest = '') =>
  ({ server, token }, id) =>
    server.call(method, `/jobs/arrays/${id}${rest}`, { token });

async function failed(bench, at) {
  const id = await submit(at);
  await bench.sql(
    at.server.database,
    `update jobs set status = 'Failed', minor_status = 'Application Finished With Errors' where array_id = $1`,
    [id],
  );
  return id;
}

export const figures = [
  timed('submit', 'POST /jobs', { call: submit }),
  timed('counts', 'GET /jobs/arrays/<id>', {
    ready: (bench, at) => bench.once('counted array', () => submit(at)),
    call: arrayCall('GET'),
  }),
  timed('kill', 'DELETE /jobs/arrays/<id>', {
    ready: (_bench, at) => submit(at),
    call: arrayCall('DELETE'),
  }),
  timed('retry', 'POST /jobs/arrays/<id>/retry, all failed', {
    ready: failed,
    call: arrayCall('POST', '/retry'),
  }),
  {
    name: 'arrays.growth',
    title: `database for a member beside its record and history, an array of ${MEMBERS}`,
    unit: 'bytes',
    better: 'lower',
    floor: 'the record and history of the same members, with their indexes',
    warmUp: false,
    async prepare(bench) {
      const at = await prepareServer(bench);
      const sizes = async (tables) => {
        for (const table of tables) await bench.sql(at.server.database, `vacuum full ${table}`);
        const [{ bytes }] = await bench.sql(
          at.server.database,
          'select sum(pg_total_relation_size(t::regclass))::float8 as bytes from unnest($1::text[]) t',
          [tables],
        );
        return bytes;
      };
      const growth = (tables) => async () => {
        const before = await sizes(tables);
        await submit(at);
        return { value: ((await sizes(tables)) - before) / MEMBERS };
      };
      return { figure: growth(OF_ARRAYS), floor: growth(OF_JOBS) };
    },
  },
];

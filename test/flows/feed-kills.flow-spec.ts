import { Agent, fetch as fetchThrough } from 'undici';
import { GridClient as Client } from '#src/client/index.js';
import { seed } from '../support/counts.js';
import { EVENTS } from '../support/catalogue/events.js';
import { routes } from '../support/catalogue/http-catalogue.js';
import { BalancedGrid } from '../support/balanced-grid.js';
import { Dice } from '../support/faults/dice.js';
import type { Balancer } from '../support/load-balancers.js';
import { describeWith, has } from '../support/missing.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { eventually, GridClient, support } from '../support/testbed.js';
import { Watcher } from '../support/watcher.js';

/** What is killed: each of it at least once. */
const KINDS = ['postgres', 'instance'] as const;
/** GRID_FEED_KILLS=100 for a long run. */
const KILLS = Number(process.env['GRID_FEED_KILLS'] ?? 10);
const PATIENCE_MS = 60_000;
const ALL = 'feed';
const ONE_GROUP = 'odd';

/** `status minorStatus` of each move of a job, in the order in which it was told. */
type Told = Map<number, string[]>;

interface Move {
  status: string;
  minorStatus: string;
}

const line = ({ status, minorStatus }: Move): string => `${status}: ${minorStatus}`;
const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

for (const balancer of ['nginx', 'haproxy'] satisfies Balancer[]) {
  const need = { met: has(balancer), name: balancer };
  describeWith(need)(`feeds through ${balancer} among ${KILLS} kills (seed ${seed})`, () => {
    const dice = new Dice(seed);
    let postgres: OwnPostgres;
    let site: BalancedGrid;
    let agent: Agent;
    let token: string;
    let alice: GridClient;
    const stop = new AbortController();
    const closers: (() => Promise<void>)[] = [];

    beforeAll(async () => {
      postgres = await OwnPostgres.create(support().root);
      site = await BalancedGrid.start(balancer, 'terminate', {
        DATABASE_URL: postgres.url,
        GRID_JOB_LEASE: '30',
        GRID_LOG_LEVEL: 'warn',
      });
      token = await site.grid.token('alice', 'grid_user');
      agent = new Agent({ connect: { ca: site.grid.ca } });
      alice = new GridClient(site.grid.url, agent, token); // those of a grid end with its process
    });
    afterAll(async () => {
      stop.abort();
      await Promise.all(closers.map((close) => close()));
      await agent?.destroy();
      await site?.remove();
      await postgres?.remove();
    });

    const hear = (told: Told, { jid, ...move }: Move & { jid: number }): void => {
      told.set(jid, [...(told.get(jid) ?? []), line(move)]);
    };

    /** A browser: goes on by itself after a broken connection, and is opened again after a refusal, which ends it. */
    async function watchAsBrowser(list: string, feed: string): Promise<Watcher[]> {
      const { headers } = await alice.get(list);
      let position = String(headers['grid-feed-position']);
      const watchers: Watcher[] = [];
      const open = (): void => {
        const path = `${feed}&after=${encodeURIComponent(position)}`;
        watchers.push(new Watcher(site.grid, token, path));
      };
      open();
      const timer = setInterval(() => {
        const watcher = watchers.at(-1);
        if (!watcher?.isClosed) return;
        position = watcher.got.at(-1)?.id ?? position;
        open();
      }, 200);
      closers.push(async () => {
        clearInterval(timer);
        await Promise.all(watchers.map((watcher) => watcher.close()));
      });
      return watchers;
    }

    async function asBrowser(query: string): Promise<() => Told> {
      const watchers = await watchAsBrowser('/jobs', `/jobs/events?${query}`);
      return () => {
        const told: Told = new Map();
        for (const { data } of watchers.flatMap((watcher) => watcher.of('job'))) hear(told, data);
        return told;
      };
    }

    /** The typed client, which lists, watches and goes on by itself. */
    async function asProgram(): Promise<Told> {
      const told: Told = new Map();
      const fetch = ((input: string, init: object) =>
        fetchThrough(input, {
          ...init,
          dispatcher: agent,
        })) as unknown as typeof globalThis.fetch;
      const client = new Client({ url: site.grid.url, token, fetch });
      let hasListed = false;
      const watch = async (): Promise<void> => {
        for await (const change of client.watchJobs({}, { signal: stop.signal })) {
          if (change.kind === 'job') hear(told, change.job);
          hasListed ||= change.kind === 'list';
        }
      };
      watch().catch((error: unknown) => {
        if (!stop.signal.aborted)
          process.stderr.write(`the typed client gave up: ${String(error)}\n`);
      });
      await eventually(() => Promise.resolve(hasListed), 'the typed client to list', PATIENCE_MS);
      return told;
    }

    /** Somebody behind a proxy that permits no streams: asks again and again. */
    async function asPoller(): Promise<Told> {
      const told: Told = new Map();
      const poll = async (after: string): Promise<void> => {
        while (!stop.signal.aborted) {
          const query = { after, wait: 5 };
          const answer = await alice.get('/jobs/events', { query }).catch(() => undefined);
          if (answer?.status === 200) {
            for (const { event, data } of answer.body.events) if (event === 'job') hear(told, data);
            after = answer.body.position;
          } else if (answer && answer.status < 500) {
            throw new Error(`${answer.status} ${answer.bytes.toString('utf8')}`);
          } else await pause(100);
        }
      };
      const { headers } = await alice.get('/jobs');
      poll(String(headers['grid-feed-position'])).catch((error: unknown) => {
        if (!stop.signal.aborted) process.stderr.write(`the poller gave up: ${String(error)}\n`);
      });
      return told;
    }

    /** Submits until it is told to end; answers what was acknowledged. */
    async function submitUntil(isOver: () => boolean): Promise<number[]> {
      const jids: number[] = [];
      for (let turn = 0; !isOver(); turn += 1) {
        const count = dice.between(1, 4);
        const JobGroup = turn % 2 === 0 ? ALL : ONE_GROUP;
        const manifests = Array.from({ length: count }, () => ({
          Executable: '/bin/true',
          JobGroup,
        }));
        const request = {
          json: { manifests },
          headers: { 'idempotency-key': `${balancer}-${turn}` },
        };
        const answer = await eventually(
          async () => {
            const given = await alice.post('/jobs', request).catch(() => undefined);
            return given?.status === 200 && given;
          },
          'a submit to be acknowledged',
          PATIENCE_MS,
        );
        jids.push(...(answer.body.jids as number[]));
        await pause(dice.between(50, 300));
      }
      return jids;
    }

    /** A mirror of the catalogue: what it was told, in order. */
    async function asMirror(): Promise<() => string[]> {
      await site.grid.sql(`update catalogue_directory set mode = 511 where path = '/vo'`);
      const feed = `${EVENTS}?prefix=${encodeURIComponent('/vo/kills')}`;
      const watchers = await watchAsBrowser(routes.directory('/'), feed);
      return () =>
        watchers
          .flatMap((watcher) => watcher.of('directory', 'file'))
          .map(({ data }) => `${data.change} ${data.path}`);
    }

    /** Makes files until it is told to end, one acknowledged bulk after the other; answers what there is to tell. */
    async function registerUntil(isOver: () => boolean): Promise<string[]> {
      const made: string[] = [];
      const register = (...lines: object[]): Promise<unknown> =>
        eventually(
          async () => {
            const body = lines.map((each) => JSON.stringify(each)).join('\n');
            const headers = { 'content-type': 'application/x-ndjson' };
            const answer = await alice
              .post<string>('/filecatalogue/bulk', { body, headers })
              .catch(() => undefined);
            return answer?.status === 200 && answer.bytes.toString().includes('"failed":0');
          },
          'a bulk to be acknowledged',
          PATIENCE_MS,
        );
      await register({ kind: 'directory', path: '/vo/kills' });
      made.push('created /vo/kills');
      for (let turn = 0; !isOver(); turn += 1) {
        const paths = Array.from({ length: 3 }, (_, n) => `/vo/kills/${turn}-${n}`);
        await register(...paths.map((path) => ({ kind: 'file', path, size: 1 })));
        made.push(...paths.map((path) => `created ${path}`));
        await pause(dice.between(50, 300));
      }
      return made;
    }

    /** After a kill of PostgreSQL an instance may find once more that a connection of its is dead. */
    async function read(path: string): Promise<any> {
      return eventually(
        async () => {
          const answer = await alice.get(path).catch(() => undefined);
          return answer?.status === 200 && answer.body;
        },
        path,
        PATIENCE_MS,
      );
    }

    /** For who reads of a failure: how a job that was told otherwise stands in the database. */
    async function explain(jid: number, told: string[], wanted: string[] = []): Promise<void> {
      if (told.join() === wanted.join()) return;
      const rows = await site.grid.sql(
        `select j.status, j.attempt, j.executor, j.last_update, h.status as past, h.time, h.source
            from jobs j left join job_history h using (jid) where jid = $1 order by h.id`,
        [jid],
      );
      process.stderr.write(`job ${jid}: ${JSON.stringify({ told, wanted, rows })}\n`);
    }

    /** `missing`: what has not been killed yet although it is the last chance. */
    async function kill(missing?: 'postgres' | 'instance'): Promise<string> {
      const isPostgres = dice.between(0, 2) === 0;
      if (missing === 'postgres' || (isPostgres && missing === undefined)) {
        const isUp = await site.grid.sql('select').then(
          () => true,
          () => false,
        );
        if (isUp) postgres.kill();
        return isUp ? 'postgres' : 'nothing';
      }
      const instance = dice.pick(site.instances);
      if (!instance) return 'nothing';
      await instance.grid.kill();
      await pause(dice.between(0, 800));
      instance.grid = await instance.grid.again();
      return 'instance';
    }

    it('tell every watcher each move once and in order', async () => {
      const browser = await asBrowser('');
      const filtered = await asBrowser(`jobGroup=${ONE_GROUP}`);
      const poller = await asPoller();
      const program = await asProgram();
      const mirror = await asMirror();
      let isOver = false;
      const submitted = submitUntil(() => isOver);
      const registered = registerUntil(() => isOver);
      const done: string[] = [];
      while (done.length < KILLS) {
        await pause(dice.between(300, 1_500));
        const isLast = done.length === KILLS - 1;
        const missing = KINDS.find((kind) => !done.includes(kind));
        const what = await kill(isLast ? missing : undefined);
        if (what !== 'nothing') done.push(what);
      }
      isOver = true;
      const [jids, made] = await Promise.all([submitted, registered]);
      expect(new Set(done)).toEqual(new Set(KINDS));

      const unfinished = `select from jobs where status not in ('Done', 'Failed', 'Killed')`;
      await eventually(
        async () => (await site.grid.sql(unfinished).catch(() => [{}])).length === 0,
        'all jobs to end',
        PATIENCE_MS,
      );
      const wanted: Told = new Map();
      const ofGroup: Told = new Map();
      for (const jid of jids) {
        const { history } = await read(`/jobs/${jid}/history`);
        const moves = (history as Move[]).map(line);
        const { jobGroup } = await read(`/jobs/${jid}`);
        wanted.set(jid, moves);
        if (jobGroup === ONE_GROUP) ofGroup.set(jid, moves);
      }
      const shown = (told: Told): [number, string[]][] => [...told].sort(([a], [b]) => a - b);
      const count = (told: Told): number => [...told.values()].flat().length;
      const watchers: [string, () => Told, Told][] = [
        ['browser', browser, wanted],
        ['browser with a filter', filtered, ofGroup],
        ['poller', () => poller, wanted],
        ['program', () => program, wanted],
      ];
      for (const [name, told, all] of watchers) {
        const hasAll = (): Promise<boolean> => Promise.resolve(count(told()) >= count(all));
        await eventually(hasAll, `${name} to hear all`, PATIENCE_MS).catch(() => undefined);
        for (const [jid, lines] of told()) await explain(jid, lines, all.get(jid));
        expect({ [name]: shown(told()) }).toEqual({ [name]: shown(all) });
      }
      const isMirrored = (): Promise<boolean> => Promise.resolve(mirror().length >= made.length);
      await eventually(isMirrored, 'the mirror to hear all', PATIENCE_MS).catch(() => undefined);
      expect(mirror()).toEqual(made);
      expect(jids.length).toBeGreaterThan(KILLS);
      expect(made.length).toBeGreaterThan(KILLS);
    }, 600_000);
  });
}

import { Dice } from '../support/faults/dice.js';
import { StorageRound, type DrillJob, type Written } from '../support/faults/storage-round.js';
import { StorageSite, type RegisteredFile } from '../support/faults/storage-site.js';
import type { ShownJob } from '../support/jobs.js';
import { adlerOf } from '../support/storage/keeping-storage.js';
import { eventually } from '../support/testbed.js';

const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);

/** The full size: GRID_FAULT_ROUNDS=20 GRID_FAULT_JOBS=100. */
const ROUNDS = number('GRID_FAULT_ROUNDS', 1);
const JOBS = number('GRID_FAULT_JOBS', 30);
const SEED = number('GRID_FAULT_SEED', 1);
const MS_A_JOB = 900;
const PATIENCE_MS = 300_000;
const ROUND_MS = 1_200_000;
const NO_STORAGE = 'no storage element takes it';
/** Most of the jobs that may find no storage: their storages would each have to fail at once, and in a way that does not pass. */
const MOST_REFUSED = Math.ceil(JOBS / 10);

interface Held {
  path: string;
  se: string;
  state: string;
  fault: string | null;
}

describe(`files of jobs among faults (GRID_FAULT_SEED=${SEED})`, () => {
  let site: StorageSite;
  beforeAll(async () => {
    site = await StorageSite.start();
  });
  afterAll(() => site?.remove());

  const keptAt = (se: string): Map<string, Buffer> =>
    site.storages.find(({ name }) => name === se)?.kept ?? new Map<string, Buffer>();

  async function shown(name: string): Promise<Map<number, ShownJob>> {
    const query = { jobGroup: name, maxJobs: 10_000 };
    const { body } = await site.alice().get<{ jobs: ShownJob[] }>('/jobs', { query });
    return new Map(body.jobs.map((job) => [job.jid, job]));
  }

  /** Rows of bytes that belong to no file. */
  async function held(): Promise<Held[]> {
    return site.sql<Held>(
      `select b.path, n.name as se, b.state, b.fault from catalogue_bytes b join catalogue_name n on n.id = b.se_id`,
    );
  }

  /** Whether a job has ended as its files say: Done, killed by its user, or Failed since a path was another's or all storages gave it up. */
  function isTrue({ contested, isCancelled }: DrillJob, job: ShownJob | undefined): boolean {
    const { status, minorStatus, appStatus = '' } = job ?? {};
    if (status === 'Done') return true;
    if (status === 'Killed') return isCancelled;
    const isOfPath = contested !== undefined && appStatus.includes(contested);
    const isStored = status === 'Failed' && minorStatus === 'Uploading Job Outputs';
    return isStored && (isOfPath || appStatus.includes(NO_STORAGE));
  }

  /** What is wrong with a file of a job that is Done. */
  function faultOf({ path, size, begins }: Written, file: RegisteredFile | undefined): string[] {
    if (!file) return [`${path} is not registered`];
    const bytes = keptAt(file.ses[0] ?? '').get(path);
    if (!bytes) return [`${path} is not at ${file.ses.join()}`];
    const line = bytes.subarray(0, bytes.indexOf('\n') + 1).toString();
    const wanted = line === '' ? bytes : Buffer.alloc(size, line);
    const isIts = bytes.toString().startsWith(begins.slice(0, bytes.length));
    return isIts && bytes.length === size && wanted.equals(bytes)
      ? []
      : [`${path} has ${bytes.length} of ${size} bytes: ${bytes.subarray(0, 40).toString()}`];
  }

  /** Registered files whose bytes are not what the catalogue says. */
  const withoutBytes = (files: readonly RegisteredFile[]): string[] =>
    files.flatMap(({ path, size, checksum, ses }) =>
      ses.flatMap((se) => {
        const bytes = keptAt(se).get(path);
        const isSame = bytes?.length === size && adlerOf(bytes) === checksum;
        return isSame ? [] : [`${path} at ${se}: ${bytes?.length} of ${size} bytes`];
      }),
    );

  /** Bytes at storages that neither belong to a file nor are known. */
  function unknown(files: readonly RegisteredFile[], rows: readonly Held[]): string[] {
    const known = new Set([
      ...files.flatMap(({ path, ses }) => ses.map((se) => `${se} ${path}`)),
      ...rows.map(({ path, se }) => `${se} ${path}`),
    ]);
    return site.storages
      .flatMap(({ name, kept }) => [...kept.keys()].map((path) => `${name} ${path}`))
      .filter((place) => !known.has(place));
  }

  /** Nobody holds a key any more, so that what is to be removed may be so at once. */
  async function clean(): Promise<void> {
    const isClean = async (): Promise<boolean> => {
      await site.sql(
        `update catalogue_bytes set due_at = now(), removals = least(removals, 1) where state = 'removing'`,
      );
      return (await held()).length === 0;
    };
    await eventually(isClean, 'bytes that belong to no file to be removed', PATIENCE_MS).catch(
      () => undefined,
    );
    await Promise.all(site.storages.map((storage) => storage.settled()));
  }

  async function storyOf(jid: number): Promise<object> {
    const { body } = await site.alice().get(`/jobs/${jid}/history`);
    const rows = await site.sql('select * from catalogue_bytes where jid = $1', [jid]);
    return { jid, history: body.history, rows };
  }

  it.each(Array.from({ length: ROUNDS }, (_, index) => index))(
    'are where the catalogue says, and nowhere else: round %i',
    async (index) => {
      const seed = SEED + index;
      const name = `storage-faults-${index}`;
      const options = { name, jobs: JOBS, faultMs: JOBS * MS_A_JOB, patienceMs: PATIENCE_MS };
      const round = new StorageRound(site, new Dice(seed), options);
      await round.run();
      const ended = await shown(name);
      const files = await site.registered();
      const byPath = new Map(files.map((file) => [file.path, file]));
      const untrue = round.jobs.filter((job) => !isTrue(job, ended.get(job.jid)));
      const stories = await Promise.all(untrue.map(({ jid }) => storyOf(jid)));
      const done = round.jobs.filter(({ jid }) => ended.get(jid)?.status === 'Done');
      const paths = new Set(done.flatMap(({ written }) => written.map(({ path }) => path)));
      const found = {
        untrue: untrue.map(({ jid }) => ended.get(jid) ?? jid),
        stories,
        notStored: done.flatMap(({ written }) =>
          written.flatMap((one) => faultOf(one, byPath.get(one.path))),
        ),
        tooMany: round.jobs.flatMap(({ written }) =>
          written.filter(({ path }) => byPath.has(path) && !paths.has(path)),
        ),
        withoutBytes: withoutBytes(files),
        unknown: unknown(files, await held()),
        afterwards: {} as object,
      };
      await clean();
      round.note('all is clean');
      const rows = await held();
      found.afterwards = {
        rows,
        unknown: unknown(files, rows),
        withoutBytes: withoutBytes(await site.registered()),
      };
      const ends: Record<string, number> = {};
      for (const { status, minorStatus } of ended.values())
        ends[`${status}: ${minorStatus}`] = (ends[`${status}: ${minorStatus}`] ?? 0) + 1;
      process.stdout.write(`${JSON.stringify({ seed, ends, history: round.history })}\n`);
      const nothing = { rows: [], unknown: [], withoutBytes: [] };
      const none = {
        untrue: [],
        stories: [],
        notStored: [],
        tooMany: [],
        withoutBytes: [],
        unknown: [],
      };
      const isAll = ended.size === JOBS;
      const refused = [...ended.values()].filter(({ appStatus }) =>
        appStatus?.includes(NO_STORAGE),
      );
      expect(refused.length).toBeLessThanOrEqual(MOST_REFUSED);
      const { history } = round;
      expect({ seed, history, isAll, ...found }).toEqual({
        ...{ seed, history, isAll: true, ...none, afterwards: nothing },
      });
    },
    ROUND_MS,
  );
});

import { setTimeout as pause } from 'node:timers/promises';
import { SchedulerRegistry } from '@nestjs/schedule';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { pino } from 'pino';
import type { Principal } from '#src/auth/index.js';
import { BoundedQueue, Problem, systemClock } from '#src/kernel/index.js';
import { readConfig, type Config } from '#src/config/index.js';
import { ChangeFeed, type Transaction } from '#src/database/index.js';
import { cursorText, EventLog } from '#src/events/index.js';
import { Metrics, Scheduler } from '#src/runtime/index.js';
import { CataloguePolicy } from '../../src/file-catalogue/access/catalogue.policy.js';
import type { LoggedChange } from '../../src/file-catalogue/events/logged-change.js';
import { CatalogueFeed } from '../../src/file-catalogue/feed/catalogue-feed.js';
import { CatalogueTeller } from '../../src/file-catalogue/feed/catalogue-teller.service.js';
import { PresentRights } from '../../src/file-catalogue/feed/present-rights.service.js';
import { MoveService } from '../../src/file-catalogue/moves/move.service.js';
import { CatalogueNameEntity } from '../../src/file-catalogue/names/catalogue-name.entity.js';
import { CatalogueNamesRepository } from '../../src/file-catalogue/names/catalogue-names.repository.js';
import { CatalogueNames } from '../../src/file-catalogue/names/catalogue-names.service.js';
import { FilePointReads } from '../../src/file-catalogue/namespace/file-point-reads.js';
import { FirstEntriesReader } from '../../src/file-catalogue/namespace/first-entries.service.js';
import { NamespaceService } from '../../src/file-catalogue/namespace/namespace.service.js';
import type { CatalogueLine } from '../../src/file-catalogue/writing/catalogue-line.js';
import { CatalogueWriter } from '../../src/file-catalogue/writing/catalogue-writer.service.js';
import type { RegistryService } from '#src/registry/index.js';
import { EventLogRepository } from '../../src/events/event-log.repository.js';
import { readCursor } from '../../src/events/feed-cursor.js';
import { FeedFollower } from '../../src/events/feed-follower.js';
import { runs, seed } from '../support/counts.js';
import { change, path as paths } from '../support/catalogue/arbitraries.js';
import type { ToldEvent } from '../support/catalogue/events.js';
import { caller, written } from '../support/scratch-catalogue.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

/** Pages of a watcher that reads all. */
const PAGES = {
  permits: 1,
  maxWaiting: 0,
  maxWaitMs: () => 1_000,
  refusal: (reason: string) => new Error(reason),
};

const ROUNDS = runs(2);
const WRITERS = 4;
const CHANGES_OF_A_WRITER = 20;
const PEOPLE = [
  caller('alice', 'grid_user'),
  caller('bob', 'grid_share'),
  caller('fred', 'grid_fc', ['NormalUser', 'FileCatalogManagement']),
];
const PREFIXES = ['/', '/a', '/b/c'];

interface Instance {
  writer: CatalogueWriter;
  mover: MoveService;
  namespace: NamespaceService;
  policy: CataloguePolicy;
  teller: CatalogueTeller;
  feed: CatalogueFeed;
  stop(): Promise<void>;
}

/** What somebody believes to see: paths of directories and files. */
type Mirror = Set<string>;

const isBelow = (path: string, directory: string): boolean =>
  directory === '/' || path === directory || path.startsWith(`${directory}/`);

describe(`${ROUNDS} rounds of changes and mirrors of the catalogue`, () => {
  let scratch: ScratchDatabase;
  const instances: Instance[] = [];

  beforeAll(async () => {
    scratch = await scratchDatabase();
    for (let n = 0; n < 2; n += 1) instances.push(await open());
    await scratch.dataSource.query('update catalogue_directory set mode = 511');
  });
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    await scratch?.remove();
  });

  async function open(): Promise<Instance> {
    const database = await scratch.open();
    // Commits come late, now and then after those that began later.
    const transaction = database.transaction.bind(database);
    database.transaction = async <T>(work: (on: Transaction) => Promise<T>): Promise<T> =>
      transaction(async (on: Transaction) => {
        const result = await work(on);
        if (Math.random() < 0.3) await pause(Math.random() * 30);
        return result;
      });
    const changeFeed = new ChangeFeed(
      () => new pg.Client({ connectionString: scratch.url }),
      database,
    );
    const scheduler = new Scheduler(new SchedulerRegistry(), database, pino({ level: 'silent' }));
    const log = new EventLog({
      ...{ database, changeFeed, scheduler, clock: systemClock, metrics: new Metrics() },
      config: { eventRetention: 3600 } as Config,
      repository: new EventLogRepository(database),
    });
    log.onApplicationBootstrap();
    changeFeed.start();
    const config = readConfig({ GRID_CATALOGUE_GLOBAL_READ: 'false' });
    const names = new CatalogueNames(
      new CatalogueNamesRepository(database.dataSource.getRepository(CatalogueNameEntity)),
    );
    const registry = { current: () => Promise.resolve({ vos: [], storageElements: () => [] }) };
    const policy = new CataloguePolicy(names, config, registry as unknown as RegistryService);
    const files = new FilePointReads(database);
    const first = new FirstEntriesReader(database);
    return {
      writer: new CatalogueWriter(database, policy, log, config),
      mover: new MoveService(database, log),
      namespace: new NamespaceService(database, policy, names, files, first),
      ...{ policy, teller: new CatalogueTeller(policy, new PresentRights(database)) },
      feed: new CatalogueFeed(log),
      stop: async () => {
        await scheduler.onModuleDestroy();
        log.onModuleDestroy();
        await changeFeed.stop();
      },
    };
  }

  const one = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;

  /** Everything that lists show at or below a directory, and where the feed stood when it began. */
  async function list(reader: Principal, top: string): Promise<{ seen: Mirror; position: string }> {
    const { namespace } = one(instances);
    const seen: Mirror = new Set();
    let first: string | undefined;
    const visit = async (path: string): Promise<void> => {
      const onPosition = (position: string): void => void (first ??= position);
      const after = { kind: 'directories', name: '' } as const;
      const asked = {
        ...{ path, verbose: false, limit: undefined, after, onNext: () => undefined },
        takeTurn: () => Promise.resolve(),
      };
      const text = await written((writer) =>
        namespace.writeListing(reader, { ...asked, onPosition }, writer),
      );
      seen.add(path);
      const { SubDirs, Files } = JSON.parse(text) as { SubDirs: object; Files: object };
      const inside = (name: string): string => (path === '/' ? `/${name}` : `${path}/${name}`);
      for (const name of Object.keys(Files)) seen.add(inside(name));
      for (const name of Object.keys(SubDirs)) await visitIfThere(inside(name));
    };
    const visitIfThere = async (path: string): Promise<void> =>
      visit(path).catch((error: unknown) => {
        if (!(error instanceof Problem && error.status === 404)) throw error;
      });
    await visit('/');
    const position = first ?? '';
    if (top !== '/') {
      seen.clear();
      await visitIfThere(top);
    }
    return { seen, position };
  }

  async function write(lines: readonly object[]): Promise<void> {
    for (const line of lines) {
      const { writer, mover, policy } = one(instances);
      try {
        if ('to' in line) await mover.move(...(Object.values(line) as [string, string]));
        else {
          const actor = await policy.writerOf(one(PEOPLE));
          await writer.apply(actor, [
            asLine(line),
            ...(Math.random() < 0.2 ? lines.map(asLine) : []),
          ]);
        }
      } catch (error) {
        if (!(error instanceof Problem) && !String(error).includes('deadlock')) throw error;
      }
    }
  }

  async function watch(reader: Principal, prefix: string, isOver: () => boolean): Promise<Mirror> {
    const { seen: mirror, position } = await list(reader, prefix);
    const drop = (top: string): void => {
      for (const path of mirror) if (isBelow(path, top)) mirror.delete(path);
    };
    const look = async (path: string): Promise<void> => {
      const top = isBelow(path, prefix) ? path : prefix;
      drop(top);
      for (const each of (await list(reader, top)).seen) mirror.add(each);
    };
    const take = async ({
      event,
      data: { path, change: what, from },
    }: ToldEvent): Promise<void> => {
      if (event === 'metadata') return;
      if (what === 'removed') drop(path);
      if (what === 'created') mirror.add(path);
      if (from !== undefined) drop(from);
      if (event === 'directory' && (what === 'changed' || what === 'moved')) await look(path);
      if (from !== undefined && isBelow(prefix, from)) await look(prefix);
    };
    for (let after = position; ;) {
      const wasOver = isOver();
      const { feed, teller } = one(instances);
      const follower = new FeedFollower<LoggedChange>({
        ...{ feed, from: readCursor(after, 'after'), signal: new AbortController().signal },
        pages: new BoundedQueue(PAGES),
        rights: (changes) => teller.tellOf(reader, prefix, changes),
      });
      await follower.open();
      const answer = JSON.parse((await follower.poll(Math.random() * 60)) ?? '') as Polled;
      follower.close();
      after = answer.position;
      for (const event of answer.events) await take(event);
      if (!wasOver) continue;
      await feed.settle();
      if (after === cursorText({ position: await feed.latest() })) return mirror;
    }
  }

  it.each(Array.from({ length: ROUNDS }, (_, n) => seed + n))(
    'leave every mirror with what lists show (seed %i)',
    async (seed) => {
      const move = fc.record({ from: paths, to: paths });
      const [lines] = fc.sample(
        fc.array(
          fc.array(fc.oneof({ weight: 8, arbitrary: change }, move), full(CHANGES_OF_A_WRITER)),
          full(WRITERS),
        ),
        { numRuns: 1, seed },
      ) as [object[][]];
      let isOver = false;
      const watching = PEOPLE.flatMap((reader) =>
        PREFIXES.map(async (prefix) => ({
          ...{ reader, prefix },
          mirror: await watch(reader, prefix, () => isOver),
        })),
      );
      await Promise.all(lines.map(write)).finally(() => (isOver = true));
      for (const { reader, prefix, mirror } of await Promise.all(watching)) {
        const { seen } = await list(reader, prefix);
        expect([reader.user, prefix, [...mirror].sort()]).toEqual([
          ...[reader.user, prefix, [...seen].sort()],
        ]);
      }
      expect((await list(PEOPLE[2] as Principal, '/')).seen.size).toBeGreaterThan(10);
    },
  );
});

interface Polled {
  events: ToldEvent[];
  position: string;
}

const full = (length: number): { minLength: number; maxLength: number } => ({
  minLength: length,
  maxLength: length,
});

/** A change as the writer takes it: without metadata, whose fields are not declared here. */
function asLine(line: object): CatalogueLine {
  const { metadata: _metadata, ...rest } = { metadata: undefined, ...line };
  if ('to' in rest) return { kind: 'directory', op: 'delete', path: '/nowhere' };
  const { op, kind } = rest as { op: string; kind: string };
  const isMade = kind === 'directory' && op === 'put';
  return { ...rest, ...(isMade && { mustExist: false }) } as unknown as CatalogueLine;
}

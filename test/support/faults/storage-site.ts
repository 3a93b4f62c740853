import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { bulk } from '../catalogue/events.js';
import { OwnPostgres } from '../own-postgres.js';
import { freePorts } from '../ports.mjs';
import { adlerOf } from '../storage/keeping-storage.js';
import { startGrid, support, type Grid, type GridClient } from '../testbed.js';
import { FaultyStorage } from './faulty-storage.js';

const STARTS = 3;
const INPUTS = 6;
const MOST_INPUT_BYTES = 200_000;

/** Files of the catalogue, and the numbers of the elements where they are. */
export interface RegisteredFile {
  path: string;
  size: number;
  checksum: string | null;
  sha256: string | null;
  ses: string[];
}

/** A service on its own PostgreSQL, with three storages, all of which a test may disturb. */
export class StorageSite {
  /** The last one has only faults that pass. */
  readonly storages = ['DRILL-A', 'DRILL-B', 'DRILL-C'].map((name) => new FaultyStorage(name));
  /** Names of the files that jobs may read in /vo/in, and their bytes. */
  readonly inputs = new Map<string, Buffer>();
  private grid!: Grid;
  private client?: GridClient | undefined;
  private token = '';

  private constructor(
    private readonly postgres: OwnPostgres,
    private readonly directory: string,
  ) {}

  static async start(): Promise<StorageSite> {
    const directory = await mkdtemp(join(tmpdir(), 'grid-storage-faults-'));
    const site = new StorageSite(await OwnPostgres.create(support().root), directory);
    try {
      await site.begin();
    } catch (error) {
      await site.remove();
      throw error;
    }
    return site;
  }

  private async begin(): Promise<void> {
    const urls = await Promise.all(this.storages.map((storage) => storage.start()));
    const storageElements = this.storages.map(({ name }, index) => {
      return { name, url: urls[index] ?? '', kind: 'webdav' as const, vos: ['vo'] };
    });
    const registry = join(this.directory, 'r.yaml');
    // The demo catalogue has files at the first two.
    const others = ['SE-A', 'SE-B', 'DRILL-NOWHERE'].map((name) => ({ name }));
    const all = [...storageElements, ...others];
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, storageElements: all }));
    const [port] = await freePorts(1);
    this.grid = await startGrid({
      ownProcess: true,
      env: {
        ...{ DATABASE_URL: this.postgres.url, GRID_PORT: String(port) },
        ...{ GRID_PUBLIC_URL: `https://localhost:${port}`, GRID_LOG_LEVEL: 'warn' },
        ...{ GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true' },
        ...{ GRID_LOCAL_SLOTS: '6', GRID_STORAGE_TIMEOUT: '4' },
      },
    });
    this.token = await this.grid.token('alice', 'grid_user');
    await bulk(await this.grid.as('fred'), { kind: 'directory', path: '/vo/out', mode: 0o777 });
    for (let index = 0; index < INPUTS; index += 1) {
      const size = Math.floor((MOST_INPUT_BYTES * index) / (INPUTS - 1));
      this.inputs.set(`i${index}`, Buffer.alloc(size, `input ${index}\n`));
    }
    const ses = this.storages.map(({ name: se }) => ({ se }));
    for (const [name, bytes] of this.inputs) {
      const path = `/vo/in/${name}`;
      for (const { kept } of this.storages) kept.set(path, bytes);
      const sum = { checksum: adlerOf(bytes), checksumType: 'Adler32' };
      await this.register({ path, size: bytes.length, ...sum, replicas: ses });
    }
  }

  /** Alice. */
  alice(): GridClient {
    return (this.client ??= this.grid.bearer(this.token));
  }

  /** A file that nobody stored. */
  async register(file: object): Promise<void> {
    await bulk(this.alice(), { kind: 'file', ...file });
  }

  async killWorker(): Promise<void> {
    await this.grid.killOwnWorker();
  }

  /** kill -9 of the service; its worker goes on, or dies with it. */
  async killService(isWorkerSpared: boolean, milliseconds: number): Promise<void> {
    this.client = undefined;
    await this.grid.kill({ isWorkerSpared });
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    for (let left = STARTS; ; left -= 1) {
      try {
        this.grid = await this.grid.again();
        this.client = undefined;
        return;
      } catch (error) {
        if (left <= 1) throw error; // PostgreSQL may have been killed meanwhile
      }
    }
  }

  killPostgres(): void {
    this.postgres.kill();
  }

  /** Again while PostgreSQL is away. */
  async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    for (let left = 100; ; left -= 1) {
      try {
        return await this.grid.sql<Row>(text, values);
      } catch (error) {
        if (left === 0) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** All that is registered at one of the storages. */
  async registered(): Promise<RegisteredFile[]> {
    const rows = await this.sql<RegisteredFile>(
      `select case d.path when '/' then '' else d.path end || '/' || f.name as path, f.size::integer,
         lower(f.checksum) as checksum, f.sha256,
         array(select n.name from jsonb_object_keys(f.replicas) r (id)
           join catalogue_name n on n.id = r.id::integer and n.kind = 'se') as ses
       from catalogue_file f join catalogue_directory d on d.id = f.directory_id where f.replicas is not null`,
    );
    const own = new Set(this.storages.map(({ name }) => name));
    return rows
      .map((file) => ({ ...file, ses: file.ses.filter((se) => own.has(se)) }))
      .filter(({ ses }) => ses.length > 0);
  }

  /** What the service has said since its last start. */
  logs(): string {
    return this.grid.server.log();
  }

  async remove(): Promise<void> {
    await this.grid?.remove();
    await Promise.all(this.storages.map((storage) => storage.stop()));
    await this.postgres.remove();
    await rm(this.directory, { recursive: true, force: true });
  }
}

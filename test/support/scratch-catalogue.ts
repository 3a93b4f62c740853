import { randomBytes } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import pg from 'pg';
import { DataSource } from 'typeorm';
import type { Principal, Property } from '#src/auth/index.js';
import { readConfig } from '#src/config/index.js';
import { Database, dataSourceOptions, poolerRules } from '#src/database/index.js';
import type { HttpRequest } from '#src/http/index.js';
import {
  type RegistryContents,
  type RegistryService,
  DEMO_REGISTRY,
  RegistrySnapshot,
} from '#src/registry/index.js';
import { MIGRATIONS } from '../../src/migrations/index.js';
import { AnswerWriter } from '../../src/file-catalogue/answer/answer-writer.js';
import { CatalogueNameEntity } from '../../src/file-catalogue/names/catalogue-name.entity.js';
import { CatalogueNamesRepository } from '../../src/file-catalogue/names/catalogue-names.repository.js';
import { CatalogueNames } from '../../src/file-catalogue/names/catalogue-names.service.js';
import { CataloguePolicy } from '../../src/file-catalogue/access/catalogue.policy.js';
import { DemoCatalogue } from '../../src/file-catalogue/demo/demo-catalogue.js';
import { CompatibleValuesService } from '../../src/file-catalogue/compatible-values/compatible-values.service.js';
import { MetadataFieldCache } from '../../src/file-catalogue/metadata/metadata-field-cache.js';
import { FilePointReads } from '../../src/file-catalogue/namespace/file-point-reads.js';
import { FirstEntriesReader } from '../../src/file-catalogue/namespace/first-entries.service.js';
import { FewMatchesReader } from '../../src/file-catalogue/matching/few-matches.service.js';
import { NamespaceService } from '../../src/file-catalogue/namespace/namespace.service.js';
import { MatchFinder } from '../../src/file-catalogue/matching/match-finder.service.js';
import { SearchService } from '../../src/file-catalogue/search/search.service.js';
import { CatalogueWriter } from '../../src/file-catalogue/writing/catalogue-writer.service.js';
import { LineReader } from '../../src/file-catalogue/writing/line-reader.service.js';
import { silentLog } from './silent-log.js';
import { databaseConnection, support } from './testbed.js';

/** The services of the catalogue on a database of their own, without HTTP. */
export interface ScratchCatalogue {
  database: Database;
  policy: CataloguePolicy;
  names: CatalogueNames;
  namespace: NamespaceService;
  search: SearchService;
  values: CompatibleValuesService;
  writer: CatalogueWriter;
  reader: LineReader;
  demo: DemoCatalogue;
  /** Empties the catalogue, the root stays. */
  clear(): Promise<void>;
  remove(): Promise<void>;
}

/** Makes a database with the schema of this version; users are those of a registry, the demo's by default. */
export async function scratchCatalogue(
  environment: Record<string, string> = {},
  contents: RegistryContents = DEMO_REGISTRY,
): Promise<ScratchCatalogue> {
  const { admin } = support();
  const name = `c_${randomBytes(6).toString('hex')}`;
  await onServer(admin, `create database "${name}"`);
  const connection = databaseConnection(name);
  const limits = { statementTimeoutSeconds: 60, connectTimeoutSeconds: 5 };
  const pooler = poolerRules(connection, { ...limits, sessions: 10 });
  const dataSource = new DataSource(
    dataSourceOptions({
      connection: () => connection,
      poolSize: 10,
      ...limits,
      entities: [CatalogueNameEntity],
      migrations: MIGRATIONS,
    }),
  );
  await dataSource.initialize();
  await dataSource.runMigrations();
  const database = new Database(
    () => dataSource,
    undefined,
    undefined,
    () => pooler,
  );
  const services = catalogueServices(database, environment, contents);
  return {
    ...services,
    clear: () => clear(services.database),
    async remove() {
      await pooler?.sessions.end();
      await dataSource.destroy();
      await onServer(admin, `drop database "${name}" with (force)`);
    },
  };
}

function catalogueServices(
  database: Database,
  environment: Record<string, string>,
  contents: RegistryContents,
): Omit<ScratchCatalogue, 'clear' | 'remove'> {
  const config = readConfig(environment);
  const registry = new RegistrySnapshot(contents, 1);
  const current = { current: () => Promise.resolve(registry) } as unknown as RegistryService;
  const names = new CatalogueNames(
    new CatalogueNamesRepository(database.dataSource.getRepository(CatalogueNameEntity)),
  );
  const policy = new CataloguePolicy(names, config, current);
  const files = new FilePointReads(database);
  const first = new FirstEntriesReader(database);
  const namespace = new NamespaceService(database, policy, names, files, first);
  const writer = new CatalogueWriter(database, policy, silentLog(), config);
  const fields = new MetadataFieldCache();
  const finder = new MatchFinder(database, policy, fields);
  const few = new FewMatchesReader(database, policy, fields);
  const reader = new LineReader(current, names);
  return {
    database,
    policy,
    names,
    namespace,
    search: new SearchService(policy, finder, few),
    values: new CompatibleValuesService(policy, finder),
    writer,
    reader,
    demo: new DemoCatalogue(policy, namespace, reader, writer),
  };
}

async function clear(database: Database): Promise<void> {
  await database.execute({
    text: `truncate catalogue_segment, catalogue_value, catalogue_field, catalogue_file, catalogue_delta, catalogue_bytes`,
  });
  await database.execute({ text: 'delete from catalogue_directory where parent is not null' });
  await database.execute({
    text: 'update catalogue_directory set sub_files = 0, sub_bytes = 0, next_ordinal = 0, mode = 493',
  });
}

async function onServer(admin: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: admin });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** A caller of the catalogue. */
export function caller(
  user: string,
  group: string,
  properties: Property[] = ['NormalUser'],
  vo?: string,
): Principal {
  return {
    user,
    dn: `/DC=org/DC=grid/CN=${user}`,
    group,
    setup: 'Prod',
    ...(vo !== undefined && { vo }),
    properties: new Set(properties),
    scopes: new Set(['catalogue:read', 'catalogue:write']),
    clientId: 'certificate',
    userGroups: [group],
  };
}

/** What a service writes as an answer. */
export async function written(write: (writer: AnswerWriter) => Promise<void>): Promise<string> {
  const pieces: string[] = [];
  const request = new IncomingMessage(new Socket());
  const waiting = Object.assign(request, { res: new ServerResponse(request) }) as HttpRequest;
  const writer = new AnswerWriter((text) => Promise.resolve(void pieces.push(text)), waiting);
  await write(writer);
  pieces.push(writer.take());
  return pieces.join('');
}

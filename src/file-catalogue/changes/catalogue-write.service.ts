import { Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import { isJsonObject, Problem, type JsonObject, type JsonValue } from '#src/kernel/index.js';
import { Database } from '#src/platform/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { allFields, readChainValues } from '../metadata/fields.repository.js';
import { presentValue } from '../metadata/metadata-field.js';
import { directoryNotFound, fileNotFound } from '../access/directory-access.js';
import { fileMetadata } from '../namespace/entry-json.js';
import { findFile } from '../namespace/files.repository.js';
import { readChain } from '../namespace/directory-chain.repository.js';
import type { CatalogueLine, MetadataChange } from '../writing/catalogue-line.js';
import { CatalogueWriter } from '../writing/catalogue-writer.service.js';
import { LineReader } from '../writing/line-reader.service.js';

/** Members of the bodies that the interface's clients write, and what they are called in NDJSON. */
const FILE_MEMBERS: Record<string, string> = {
  Size: 'size',
  Checksum: 'checksum',
  ChecksumType: 'checksumType',
  GUID: 'guid',
  Mode: 'mode',
  Replicas: 'replicas',
};
const REPLICA_MEMBERS: Record<string, string> = { PFN: 'pfn' };

/** Single changes of the catalogue in a caller's name. */
@Injectable()
export class CatalogueWriteService {
  constructor(
    private readonly database: Database,
    private readonly policy: CataloguePolicy,
    private readonly reader: LineReader,
    private readonly writer: CatalogueWriter,
  ) {}

  /** Makes a directory and those above it; false when it was there. 400, 403, 409. */
  async makeDirectory(principal: Principal, path: string, body: JsonObject): Promise<boolean> {
    const names = { Mode: 'mode' };
    const line = { kind: 'directory', path, ...renamed(body, names) };
    return (await withSpelling(names, () => this.write(principal, line))) === 'created';
  }

  /** Registers a file; false when the same one was registered. 400, 403, 409 for another content. */
  async registerFile(principal: Principal, path: string, body: JsonObject): Promise<boolean> {
    const members = renamed(body, FILE_MEMBERS);
    const line = { kind: 'file', path, ...members, ...replicaList(members['replicas']) };
    const names = { ...FILE_MEMBERS, ...REPLICA_MEMBERS };
    return (await withSpelling(names, () => this.write(principal, line))) === 'created';
  }

  /** Removes a file or an empty directory. 403, 404, 409 for a directory that is not empty. */
  async remove(principal: Principal, kind: 'file' | 'directory', path: string): Promise<void> {
    const outcome = await this.write(principal, { kind, op: 'delete', path });
    if (outcome === 'absent') throw kind === 'file' ? fileNotFound(path) : directoryNotFound(path);
  }

  /** Declares a field; `created` is false when it exists with this type. 400, 403, 409 for another type. */
  async declareField(
    principal: Principal,
    body: JsonObject,
  ): Promise<{ created: boolean; name: string; type: string }> {
    const members = renamed(body, { name: 'name', type: 'type' });
    const line = await this.reader.readOne({ kind: 'field', ...members });
    if (line.kind !== 'field' || line.op !== 'put') throw new Error('no declaration');
    const created = (await this.apply(principal, line)) === 'created';
    return { created, name: line.name, type: line.type };
  }

  /** Changes the values set on a directory and answers them. 400, 403, 404, 409 for a conflict on its way. */
  async changeDirectoryMetadata(
    principal: Principal,
    path: string,
    metadata: MetadataChange,
  ): Promise<JsonObject> {
    await this.apply(principal, { kind: 'directory', op: 'put', path, mustExist: true, metadata });
    const directory = (await readChain(this.database, path)).at(-1);
    if (directory?.path !== path) throw directoryNotFound(path);
    const values = await readChainValues(this.database, [directory.id]);
    const fields = await allFields(this.database);
    const own: [string, JsonValue][] = [];
    for (const [id, value] of values) {
      const field = fields.get(id);
      if (field) own.push([field.name, presentValue(field.type, value)]);
    }
    return Object.fromEntries(own.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Changes the metadata of a file and answers it. 400, 403, 404. */
  async changeFileMetadata(
    principal: Principal,
    path: string,
    metadata: MetadataChange,
  ): Promise<JsonObject> {
    await this.apply(principal, { kind: 'file', op: 'put', path, metadata });
    const file = await findFile(this.database, path);
    if (!file) throw fileNotFound(path);
    return fileMetadata(file);
  }

  private async write(principal: Principal, json: JsonObject): Promise<string> {
    return this.apply(principal, await this.reader.readOne(json));
  }

  private async apply(principal: Principal, line: CatalogueLine): Promise<string> {
    return this.writer.applyOne(await this.policy.writerOf(principal), line);
  }
}

/** Does the work; violations come back in the spelling in which the body has its members. */
async function withSpelling<T>(names: Record<string, string>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'request.invalid') throw error;
    const spelling = new Map(Object.entries(names).map(([sent, read]) => [read, sent]));
    const violations = (error.violations ?? []).map(({ field, problem }) => ({
      field: spelling.get(field) ?? field,
      problem,
    }));
    throw Problem.invalid(violations);
  }
}

/** The members under their other names. Throws Problem 400 for a member that is not known. */
function renamed(body: JsonObject, names: Record<string, string>): JsonObject {
  const entries = Object.entries(body).map(([key, value]) => {
    if (!Object.hasOwn(names, key)) throw Problem.invalidField(key, 'is not known here');
    return [names[key] ?? key, value] as const;
  });
  return Object.fromEntries(entries);
}

/** `{"SE-A": {"PFN": "…"}}` as the list of NDJSON. */
function replicaList(replicas: JsonValue | undefined): JsonObject {
  if (replicas === undefined) return {};
  if (!isJsonObject(replicas)) throw Problem.invalidField('Replicas', 'is not a JSON object');
  const list = Object.entries(replicas).map(([se, replica]) => {
    if (!isJsonObject(replica)) {
      throw Problem.invalidField('Replicas', `${se} is not a JSON object`);
    }
    return { se, ...renamed(replica, REPLICA_MEMBERS) };
  });
  return { replicas: list };
}

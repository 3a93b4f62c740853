import { Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import type { JsonObject, JsonValue } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { allFields, readChainValues } from '../metadata/fields.repository.js';
import { presentValue } from '../metadata/metadata-field.js';
import { directoryNotFound, fileNotFound } from '../access/directory-access.js';
import { fileMetadata } from '../namespace/entry-json.js';
import { findFile } from '../namespace/files.repository.js';
import { readChain } from '../namespace/directory-chain.repository.js';
import type { CatalogueLine, FilePut, MetadataChange } from '../writing/catalogue-line.js';
import { CatalogueWriter } from '../writing/catalogue-writer.service.js';
import { LineReader } from '../writing/line-reader.service.js';
import { checksumTypeOf } from '../writing/member-rules.js';
import type {
  DeclareFieldRequest,
  MakeDirectoryRequest,
  RegisterFileRequest,
} from './writes.request.js';

/** Single changes of the catalogue in a caller's name. */
@Injectable()
export class CatalogueWriteService {
  constructor(
    private readonly database: Database,
    private readonly policy: CataloguePolicy,
    private readonly reader: LineReader,
    private readonly writer: CatalogueWriter,
  ) {}

  /** Makes a directory and those above it; false when it was there. 403, 409. */
  async makeDirectory(
    principal: Principal,
    path: string,
    { Mode: mode }: MakeDirectoryRequest,
  ): Promise<boolean> {
    const line = { kind: 'directory', op: 'put', path, mustExist: false, mode } as const;
    return (await this.apply(principal, line)) === 'created';
  }

  /**
   * Registers a file, with the bytes that have arrived for it; false when the same one was registered. 400, 403, 409 for another content,
   * and `storage.differs` for bytes that arrive no longer.
   */
  async registerFile(
    principal: Principal,
    path: string,
    body: RegisterFileRequest,
    {
      arrived,
      mustExist,
    }: { arrived?: { id: number | bigint; seId: number }; mustExist?: true } = {},
  ): Promise<boolean> {
    const { Size: size, Checksum: checksum, GUID: guid, Mode: mode, Replicas } = body;
    const checksumType = checksumTypeOf(checksum, body.ChecksumType);
    const line = await this.reader.complete({
      mode,
      replicas: Replicas ?? [],
      replicasIn: 'Replicas',
      complete: (ownership, replicas) => {
        const content = { size, checksum, checksumType, guid, replicas, mustExist };
        const line: FilePut = { kind: 'file', op: 'put', path, ...content, ...ownership };
        if (!arrived) return line;
        const { id, seId } = arrived;
        const own = new Map([...replicas, [seId, null]] as const);
        return { ...line, replicas: own, arrived: { id, sha256: body.SHA256 ?? null } };
      },
    });
    return (await this.apply(principal, line)) === 'created';
  }

  /**
   * Removes a file or an empty directory; true when bytes at storage elements are removed, too. 403, 404, 409 for a directory that is not
   * empty.
   */
  async remove(principal: Principal, kind: 'file' | 'directory', path: string): Promise<boolean> {
    const outcome = await this.apply(principal, { kind, op: 'delete', path });
    if (outcome === 'absent') throw kind === 'file' ? fileNotFound(path) : directoryNotFound(path);
    return outcome === 'removing';
  }

  /** Declares a field; false when it exists with this type. 403, 409 for another type. */
  async declareField(principal: Principal, { name, type }: DeclareFieldRequest): Promise<boolean> {
    return (await this.apply(principal, { kind: 'field', op: 'put', name, type })) === 'created';
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

  private async apply(principal: Principal, line: CatalogueLine): Promise<string> {
    return this.writer.applyOne(await this.policy.writerOf(principal), line);
  }
}

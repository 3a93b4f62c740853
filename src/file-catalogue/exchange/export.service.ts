import { Injectable } from '@nestjs/common';
import { stringifyJson, type JsonObject, type JsonValue } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { allFields } from '../metadata/fields.repository.js';
import { presentValue, valueOf, type MetadataField } from '../metadata/metadata-field.js';
import { directoryNotFound } from '../access/directory-access.js';
import { readChain } from '../namespace/directory-chain.repository.js';
import { fileMetadata, namesIn, replicaEntries } from '../namespace/entry-json.js';
import type { FileRow } from '../namespace/files.repository.js';
import { joinPath } from '../path/catalogue-path.js';
import { endOfSubtree } from '../path/label.js';
import { directoriesToExport, filesToExport, type ExportedDirectory } from './export.repository.js';

/** Where the lines of an export go. */
export interface ExportTarget {
  write(text: string): Promise<void>;
  /** Lines written so far. */
  progress?(lines: number): void;
}

/**
 * Writes a subtree as the NDJSON that bulk and import take, in bounded memory and page by page: between two pages nothing
 * of the database is held, so that a slow target does not keep old rows from being cleaned up.
 */
@Injectable()
export class ExportService {
  constructor(
    private readonly database: Database,
    private readonly names: CatalogueNames,
  ) {}

  /**
   * Writes the fields, then every directory with its files, depth first. What exists throughout is written once, as it
   * was at some moment of the export. Answers the number of lines; throws 404 for a directory that does not exist.
   */
  async export(path: string, target: ExportTarget): Promise<number> {
    const root = (await readChain(this.database, path)).at(-1);
    if (root?.path !== path) throw directoryNotFound(path);
    const output = new LineOutput(target);
    const fields = new Map<number, MetadataField>();
    await this.writeFields(fields, output);
    const end = endOfSubtree(root.label);
    for (let from: Buffer | undefined = root.label; from;) {
      from = await this.page([from, end], { fields, output });
    }
    await output.flush();
    return output.lines;
  }

  /** Writes and adds the fields that have not been written. */
  private async writeFields(fields: Map<number, MetadataField>, output: LineOutput): Promise<void> {
    for (const [id, field] of await allFields(this.database)) {
      if (fields.has(id)) continue;
      fields.set(id, field);
      await output.line({ kind: 'field', name: field.name, type: field.type });
    }
  }

  private async page(
    [from, end]: [Buffer, Buffer],
    { fields, output }: { fields: Map<number, MetadataField>; output: LineOutput },
  ): Promise<Buffer | undefined> {
    const rows = await directoriesToExport(this.database, from, end);
    const isDeclaredSince = rows.some(({ field_id: id }) => id !== null && !fields.has(id));
    if (isDeclaredSince) await this.writeFields(fields, output);
    await this.names.load(rows.flatMap((row) => [row.owner_id, row.group_id]));
    let values: [string, JsonValue][] = [];
    for (const [index, row] of rows.entries()) {
      const field = row.field_id === null ? undefined : fields.get(row.field_id);
      if (field) values.push([field.name, presentValue(field.type, valueOf(row))]);
      if (rows[index + 1]?.id === row.id) continue;
      // A field may be called __proto__, which cannot be set on an object.
      await output.line(this.directoryLine(row, Object.fromEntries(values)));
      values = [];
      for await (const files of filesToExport(this.database, row.id)) {
        await this.names.load(files.flatMap(namesIn));
        for (const file of files) await output.line(this.fileLine(row.path, file));
      }
    }
    const last = rows.at(-1);
    return last && Buffer.concat([last.label, Buffer.from([0])]); // the first label after it
  }

  private directoryLine(row: ExportedDirectory, metadata: JsonObject): JsonObject {
    return {
      kind: 'directory',
      path: row.path,
      ...this.ownership(row),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    };
  }

  private fileLine(directory: string, file: FileRow): JsonObject {
    const metadata = fileMetadata(file);
    const replicas = replicaEntries(file).map(([id, pfn]) => ({
      se: this.names.nameOf(id),
      ...(pfn === '' ? {} : { pfn }),
    }));
    return {
      kind: 'file',
      path: joinPath(directory, file.name),
      size: file.size,
      ...this.ownership(file),
      ...(file.checksum === null ? {} : { checksum: file.checksum }),
      ...(file.checksum_type === null ? {} : { checksumType: file.checksum_type }),
      ...(file.guid === null ? {} : { guid: file.guid }),
      ...(replicas.length > 0 ? { replicas } : {}),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    };
  }

  private ownership(row: { owner_id: number; group_id: number; mode: number }): JsonObject {
    return {
      owner: this.names.nameOf(row.owner_id),
      group: this.names.nameOf(row.group_id),
      mode: row.mode,
    };
  }
}

const CHUNK_CHARACTERS = 256 * 1024;

/** Lines put together into larger pieces. */
class LineOutput {
  lines = 0;
  private pieces: string[] = [];
  private length = 0;

  constructor(private readonly target: ExportTarget) {}

  async line(json: JsonObject): Promise<void> {
    const text = `${stringifyJson(json)}\n`;
    this.pieces.push(text);
    this.length += text.length;
    this.lines += 1;
    if (this.length >= CHUNK_CHARACTERS) await this.flush();
  }

  async flush(): Promise<void> {
    await this.target.write(this.pieces.join(''));
    this.pieces = [];
    this.length = 0;
    this.target.progress?.(this.lines);
  }
}

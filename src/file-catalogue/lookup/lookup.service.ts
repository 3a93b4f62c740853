import { Inject, Injectable } from '@nestjs/common';
import { requirePath, type Principal } from '#src/auth/index.js';
import { Problem, Slices } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database } from '#src/database/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { CataloguePolicy, type Actor } from '../access/catalogue.policy.js';
import { fileNotFound } from '../access/directory-access.js';
import type { AnswerWriter } from '../answer/answer-writer.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { fileAttributesText } from '../namespace/entry-json.js';
import { findFiles, type FileRow } from '../namespace/files.repository.js';
import { seenFiles } from '../namespace/seen-files.js';
import { filePathFault } from '../path/catalogue-path.js';
import { pathsOf } from './lookup-paths.js';

/** Paths of one statement: between two of them nothing of the database is held. */
const BATCH_PATHS = 1_000;

/** Many files by path, each with the rights and faults of a single read. */
@Injectable()
export class LookupService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'maxBodyBytes'>,
    private readonly database: Database,
    private readonly policy: CataloguePolicy,
    private readonly names: CatalogueNames,
  ) {}

  /** Writes a line for each path of the request in their order: `{"path","attributes"}` or `{"path","error"}`. 400, 413, 415 before. */
  async answer(principal: Principal, request: HttpRequest, writer: AnswerWriter): Promise<void> {
    const paths = await pathsOf(request, this.config.maxBodyBytes);
    await this.writeLines(principal, paths, writer);
  }

  private async writeLines(
    principal: Principal,
    paths: readonly string[],
    writer: AnswerWriter,
  ): Promise<void> {
    const actor = await this.policy.readerOf(principal);
    const slices = new Slices();
    let next = this.foundFrom(actor, principal, paths);
    for (let start = 0; start < paths.length; start += BATCH_PATHS) {
      writer.requireClient();
      const batch = await next;
      // What comes next is read while this is written; a fault of it is thrown when its turn has come.
      next = this.foundFrom(actor, principal, paths.slice(start + BATCH_PATHS));
      next.catch(() => undefined);
      for (const { path, found } of batch) {
        if (writer.push(`${this.lineOf(path, found)}\n`)) await writer.flush();
        if (slices.isOver) await slices.rest();
      }
    }
  }

  /** The first of the paths with what they are. */
  private async foundFrom(
    actor: Actor,
    principal: Principal,
    paths: readonly string[],
  ): Promise<{ path: string; found: FileRow | Problem }[]> {
    const batch = paths.slice(0, BATCH_PATHS);
    const refusals = batch.map((path) => refusalOf(principal, path));
    const asked = batch.filter((_path, place) => refusals[place] === undefined);
    const files = await this.readFiles(actor, [...new Set(asked)]);
    return batch.map((path, place) => ({
      path,
      found: refusals[place] ?? files.get(path) ?? fileNotFound(path),
    }));
  }

  /** Those of the paths that are files which the reader may see. */
  private async readFiles(actor: Actor, paths: readonly string[]): Promise<Map<string, FileRow>> {
    const seen = await seenFiles(this.database, this.policy, { actor, paths });
    if (seen.length === 0) return new Map();
    const files = await findFiles(this.database, seen);
    await this.names.load([...files.values()].flatMap((file) => [file.owner_id, file.group_id]));
    return files;
  }

  private lineOf(path: string, found: FileRow | Problem): string {
    if (!(found instanceof Problem)) {
      return `{"path":${JSON.stringify(path)},"attributes":${fileAttributesText(found, this.names)}}`;
    }
    const { status, code, detail } = found;
    return JSON.stringify({ path, error: { status, code, detail } });
  }
}

/** Why the path is not looked up; undefined when it is. */
function refusalOf(principal: Principal, path: string): Problem | undefined {
  const fault = filePathFault(path);
  if (fault !== undefined) {
    return new Problem('request.invalid', `The path ${fault}`);
  }
  try {
    requirePath(principal, 'stat', { path, kind: 'file' });
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

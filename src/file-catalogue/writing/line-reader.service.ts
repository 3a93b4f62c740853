import { Injectable } from '@nestjs/common';
import {
  isJsonObject,
  Problem,
  type JsonObject,
  type JsonValue,
  type Violation,
  Slices,
} from '#src/kernel/index.js';
import { RegistryService, type RegistrySnapshot } from '#src/registry/index.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import type { NameKind } from '../names/catalogue-name.entity.js';
import { FIELD_TYPES, fieldNameFault, type FieldType } from '../metadata/metadata-field.js';
import { pathFault } from '../path/catalogue-path.js';
import type { CatalogueLine, FilePut, MetadataChange, Ownership } from './catalogue-line.js';
import { PlainFiles } from './plain-file.js';
import {
  CHECKSUM,
  CHECKSUM_TYPE,
  checksumTypeOf,
  FAULTS,
  isMode,
  isPfn,
  isSize,
  MAX_REPLICAS,
} from './member-rules.js';

const MEMBERS = {
  field: ['kind', 'op', 'name', 'type'],
  directory: ['kind', 'op', 'path', 'owner', 'group', 'mode', 'metadata'],
  file: [
    'kind',
    'op',
    'path',
    'owner',
    'group',
    'mode',
    'metadata',
    'size',
    'checksum',
    'checksumType',
    'guid',
    'replicas',
  ],
} as const;

/** A line, or why it is none. */
export type ReadLine = CatalogueLine | Problem;

/** Reads lines of NDJSON: shapes, names of owners, groups and storage elements. */
@Injectable()
export class LineReader {
  constructor(
    private readonly registry: RegistryService,
    private readonly names: CatalogueNames,
  ) {}

  /** Reads the objects of a batch; the names in them become numbers of the catalogue. */
  async read(objects: readonly JsonValue[]): Promise<ReadLine[]> {
    const registry = await this.registry.current();
    const plain = new PlainFiles();
    const lines: (FilePut | LineDraft | Problem)[] = [];
    const slices = Slices.ofLong();
    for (const json of objects) {
      lines.push(plain.read(json) ?? draft(json));
      if (slices.isOver) await slices.rest();
    }
    await this.numberNames(registry, lines.filter(isDraft));
    return lines.map((line) => (isDraft(line) ? this.finish(registry, line) : line));
  }

  /** The line of a draft that was checked elsewhere. Throws Problem 400 for names that are not known. */
  async complete(draft: LineDraft): Promise<CatalogueLine> {
    const registry = await this.registry.current();
    await this.numberNames(registry, [draft]);
    const line = this.finish(registry, draft);
    if (line instanceof Problem) throw line;
    return line;
  }

  private async numberNames(
    registry: RegistrySnapshot,
    lines: readonly LineDraft[],
  ): Promise<void> {
    const wanted: Record<NameKind, Set<string>> = {
      user: new Set(),
      group: new Set(),
      se: new Set(),
    };
    for (const line of lines) {
      if (line.owner !== undefined) wanted.user.add(line.owner);
      if (line.group !== undefined) wanted.group.add(line.group);
      for (const [element] of line.replicas) wanted.se.add(element);
    }
    for (const kind of Object.keys(wanted) as NameKind[]) {
      const known = [...wanted[kind]].filter((name) => isRegistered(registry, kind, name));
      if (known.length > 0) await this.names.ensure(kind, known);
    }
  }

  private finish(registry: RegistrySnapshot, line: LineDraft): ReadLine {
    const violations: Violation[] = [];
    const number = (kind: NameKind, name: string, field: string): number => {
      if (!isRegistered(registry, kind, name))
        violations.push({ field, problem: `${name} is not known` });
      return this.names.known(kind, name);
    };
    const ownership: Ownership = {
      ownerId: line.owner === undefined ? undefined : number('user', line.owner, 'owner'),
      groupId: line.group === undefined ? undefined : number('group', line.group, 'group'),
      mode: line.mode,
    };
    const replicas = new Map(
      line.replicas.map(([element, pfn]) => {
        return [number('se', element, line.replicasIn ?? 'replicas'), pfn] as const;
      }),
    );
    if (violations.length > 0) return Problem.invalid(violations);
    return line.complete(ownership, replicas);
  }
}

/** Storage elements and what a file is called there; null where it follows from the path. */
export type NamedReplicas = [element: string, pfn: string | null][];

/** A line whose names are not numbers yet. */
export interface LineDraft {
  owner?: string | undefined;
  group?: string | undefined;
  mode?: number | undefined;
  replicas: NamedReplicas;
  /** The member that has them; `replicas` unless said otherwise. */
  replicasIn?: string;
  complete: (ownership: Ownership, replicas: ReadonlyMap<number, string | null>) => CatalogueLine;
}

function isDraft(line: FilePut | LineDraft | Problem): line is LineDraft {
  return 'complete' in line;
}

function isRegistered(registry: RegistrySnapshot, kind: NameKind, name: string): boolean {
  if (kind === 'user') return name === 'root' || registry.userByName(name) !== undefined;
  if (kind === 'group') return name === 'root' || registry.group(name) !== undefined;
  return registry.storageElement(name) !== undefined;
}

function draft(json: JsonValue): LineDraft | Problem {
  try {
    return readDraft(json);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function readDraft(json: JsonValue): LineDraft {
  if (!isJsonObject(json)) throw Problem.invalidField('line', 'is not a JSON object');
  const object = new Members(json);
  const kind = object.oneOf('kind', ['field', 'directory', 'file'] as const);
  object.allowOnly(MEMBERS[kind]);
  const op = object.has('op') ? object.oneOf('op', ['put', 'delete'] as const) : 'put';
  if (kind === 'field') return fieldDraft(object, op);
  const path = object.path();
  if (op === 'delete') {
    if (kind === 'file' && path === '/') throw Problem.invalidField('path', 'names a directory');
    return plainDraft({ kind, op, path });
  }
  const metadata = object.metadata();
  const common = { owner: object.text('owner'), group: object.text('group'), mode: object.mode() };
  if (kind === 'directory') {
    return {
      ...common,
      replicas: [],
      complete: (ownership) => ({ kind, op, path, mustExist: false, metadata, ...ownership }),
    };
  }
  if (path === '/') throw Problem.invalidField('path', 'names a directory');
  const content = object.content();
  return {
    ...common,
    replicas: object.replicas(),
    complete: (ownership, replicas) => ({
      kind,
      op,
      path,
      ...content,
      metadata,
      replicas,
      ...ownership,
    }),
  };
}

function fieldDraft(object: Members, op: 'put' | 'delete'): LineDraft {
  const name = object.text('name') ?? '';
  const fault = fieldNameFault(name);
  if (fault !== undefined) throw Problem.invalidField('name', fault);
  if (op === 'delete') return plainDraft({ kind: 'field', op, name });
  const type: FieldType = object.oneOf('type', FIELD_TYPES);
  return plainDraft({ kind: 'field', op, name, type });
}

function plainDraft(line: CatalogueLine): LineDraft {
  return { replicas: [], complete: () => line };
}

/** Reads members of a JSON object; every fault is a Problem 400 that names the member. */
class Members {
  constructor(private readonly json: JsonObject) {}

  has(name: string): boolean {
    return this.json[name] !== undefined;
  }

  allowOnly(known: readonly string[]): void {
    const unknown = Object.keys(this.json).filter((name) => !known.includes(name));
    if (unknown.length === 0) return;
    throw Problem.invalid(unknown.map((field) => ({ field, problem: 'is not known here' })));
  }

  text(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.json[name];
    if (typeof value !== 'string' || value === '' || value.includes('\0')) {
      throw Problem.invalidField(name, FAULTS.text);
    }
    return value;
  }

  oneOf<T extends string>(name: string, known: readonly T[]): T {
    const value = this.json[name];
    const found = known.find((each) => each === value);
    if (found === undefined) throw Problem.invalidField(name, `is not one of ${known.join(', ')}`);
    return found;
  }

  path(): string {
    const path = this.text('path') ?? '';
    const fault = pathFault(path);
    if (fault !== undefined) throw Problem.invalidField('path', fault);
    return path;
  }

  mode(): number | undefined {
    if (!this.has('mode')) return undefined;
    const mode = this.json['mode'];
    if (isMode(mode)) return mode;
    throw Problem.invalidField('mode', FAULTS.mode);
  }

  metadata(): MetadataChange | undefined {
    if (!this.has('metadata')) return undefined;
    const metadata = this.json['metadata'];
    if (!isJsonObject(metadata)) throw Problem.invalidField('metadata', 'is not a JSON object');
    return { mode: 'merge', values: Object.entries(metadata) };
  }

  content(): Pick<FilePut, 'size' | 'checksum' | 'checksumType' | 'guid'> {
    const checksum = this.matching('checksum', CHECKSUM);
    const checksumType = checksumTypeOf(checksum, this.matching('checksumType', CHECKSUM_TYPE));
    return { size: this.size(), checksum, checksumType, guid: this.matching('guid', CHECKSUM) };
  }

  replicas(): NamedReplicas {
    if (!this.has('replicas')) return [];
    const list = this.json['replicas'];
    if (!Array.isArray(list) || list.length > MAX_REPLICAS) {
      throw Problem.invalidField('replicas', `is not a list of at most ${MAX_REPLICAS}`);
    }
    return list.map((item) => {
      if (!isJsonObject(item))
        throw Problem.invalidField('replicas', 'has an entry that is no object');
      const entry = new Members(item);
      if (!entry.has('se')) throw Problem.invalidField('replicas', 'has an entry without se');
      entry.allowOnly(['se', 'pfn']);
      const pfn = entry.text('pfn') ?? null;
      if (pfn !== null && !isPfn(pfn)) throw Problem.invalidField('pfn', FAULTS.pfn);
      return [entry.text('se') as string, pfn];
    });
  }

  private size(): number | bigint {
    const size = this.json['size'];
    if (isSize(size)) return size;
    throw Problem.invalidField('size', size === undefined ? 'is missing' : FAULTS.size);
  }

  private matching(name: string, pattern: RegExp): string | undefined {
    const value = this.text(name);
    if (value !== undefined && !pattern.test(value))
      throw Problem.invalidField(name, 'is malformed');
    return value;
  }
}

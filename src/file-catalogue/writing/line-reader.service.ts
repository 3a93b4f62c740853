import { Injectable } from '@nestjs/common';
import {
  isJsonObject,
  Problem,
  Slices,
  type JsonValue,
  type Violation,
} from '#src/kernel/index.js';
import { checkBy, type FaultTexts, type Misfit, type Schema } from '#src/config/index.js';
import { RegistryService, type RegistrySnapshot } from '#src/registry/index.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import type { NameKind } from '../names/catalogue-name.entity.js';
import { FIELD_TYPES, fieldNameFault } from '../metadata/metadata-field.js';
import { filePathFault, pathFault } from '../path/catalogue-path.js';
import type { CatalogueLine, FilePut, Ownership } from './catalogue-line.js';
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

const TEXTS: FaultTexts = {
  kinds: { string: FAULTS.text, object: 'is not a JSON object' },
  words: (words) => `is not one of ${words}`,
  unknown: () => 'is not known here',
};

function text(fault: (text: string) => string | undefined): Schema {
  const fits = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return undefined;
    return value === '' || value.includes('\0') ? FAULTS.text : fault(value);
  };
  return { type: 'string', fits };
}

const rule = (isWell: (value: never) => boolean, problem: string) => (value: unknown) =>
  isWell(value as never) ? undefined : problem;
const formed = (form: RegExp): Schema => text(rule((value) => form.test(value), 'is malformed'));
const NAME = text(() => undefined);

const REPLICA: Schema = {
  if: { type: 'object', required: ['se'] },
  then: {
    properties: { se: NAME, pfn: text(rule(isPfn, FAULTS.pfn)) },
    additionalProperties: false,
  },
  else: { fits: () => 'has an entry without se' },
};
const REPLICAS = (list: unknown): boolean => Array.isArray(list) && list.length <= MAX_REPLICAS;

const ENTRY = {
  ...{ owner: NAME, group: NAME, mode: { fits: rule(isMode, FAULTS.mode) } },
  metadata: { type: 'object' },
};
const MEMBERS = {
  field: { name: text(fieldNameFault), type: { enum: FIELD_TYPES } },
  directory: { path: text(pathFault), ...ENTRY },
  file: {
    path: text(filePathFault),
    ...ENTRY,
    size: { fits: rule(isSize, FAULTS.size) },
    ...{ checksum: formed(CHECKSUM), checksumType: formed(CHECKSUM_TYPE), guid: formed(CHECKSUM) },
    replicas: {
      fits: rule(REPLICAS, `is not a list of at most ${MAX_REPLICAS}`),
      if: { type: 'array', maxItems: MAX_REPLICAS },
      then: { items: REPLICA },
    },
  },
};
const KINDS = Object.keys(MEMBERS) as Kind[];
const NEEDED = { field: ['name', 'type'], directory: ['path'], file: ['path', 'size'] };

type Kind = keyof typeof MEMBERS;

/** A line that deletes says what by its first member; of the others it is only asked whether they are known. */
function checksOf(kind: Kind): Record<'put' | 'delete', (line: JsonValue) => Misfit[]> {
  const members: Record<string, Schema> = MEMBERS[kind];
  const known = { kind: {}, op: { enum: ['put', 'delete'] }, ...members };
  const [name = ''] = NEEDED[kind];
  const others = Object.fromEntries(Object.keys(members).map((member) => [member, {}]));
  const check = (
    properties: object,
    required: readonly string[],
  ): ((line: JsonValue) => Misfit[]) =>
    checkBy({ properties, required, additionalProperties: false }, TEXTS);
  return {
    put: check(known, NEEDED[kind]),
    delete: check({ ...known, ...others, [name]: members[name] }, [name]),
  };
}

const CHECKS = {
  field: checksOf('field'),
  directory: checksOf('directory'),
  file: checksOf('file'),
};

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
    const lines: (ReadLine | LineDraft)[] = [];
    const slices = Slices.ofLong();
    for (const json of objects) {
      lines.push(lineOf(json));
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

function isDraft(line: ReadLine | LineDraft): line is LineDraft {
  return 'complete' in line;
}

function isRegistered(registry: RegistrySnapshot, kind: NameKind, name: string): boolean {
  if (kind === 'user') return name === 'root' || registry.userByName(name) !== undefined;
  if (kind === 'group') return name === 'root' || registry.group(name) !== undefined;
  return registry.storageElement(name) !== undefined;
}

/** A line as its schema lets it through. */
interface Body extends Pick<FilePut, 'size' | 'checksum' | 'checksumType' | 'guid' | 'mode'> {
  owner?: string;
  group?: string;
  metadata?: Record<string, JsonValue>;
  replicas?: { se: string; pfn?: string }[];
}

const NO_REPLICAS: ReadonlyMap<number, string | null> = new Map();

/** The line; a draft of one where names are to become numbers. */
function lineOf(json: JsonValue): ReadLine | LineDraft {
  if (!isJsonObject(json)) return Problem.invalidField('line', 'is not a JSON object');
  const { kind, op = 'put' } = json as { kind?: Kind; op?: 'put' | 'delete' };
  if (kind === undefined || !KINDS.includes(kind)) {
    return Problem.invalidField('kind', TEXTS.words(KINDS.join(', ')));
  }
  const faults = CHECKS[kind][op === 'delete' ? op : 'put'](json);
  if (faults.length > 0) return Problem.invalid(faults.map(violationOf));
  const { name, type } = json;
  if (kind === 'field') return { kind, op, name, ...(op === 'put' && { type }) } as CatalogueLine;
  const body = json as unknown as Body & { path: string };
  if (op === 'delete') return { kind, op, path: body.path };
  const { owner, group, mode, replicas } = body;
  if (owner === undefined && group === undefined && replicas === undefined) {
    return putOf(kind, body, { mode }, NO_REPLICAS);
  }
  const named = (replicas ?? []).map(({ se, pfn = null }): NamedReplicas[0] => [se, pfn]);
  const complete: LineDraft['complete'] = (...numbers) => putOf(kind, body, ...numbers);
  return { owner, group, mode, replicas: named, complete };
}

/** Written out: a plain line is read in half the time that spreading takes. */
function putOf(
  kind: 'directory' | 'file',
  { path, size, checksum, checksumType, guid, metadata }: Body & { path: string },
  { ownerId, groupId, mode }: Ownership,
  replicas: ReadonlyMap<number, string | null>,
): CatalogueLine {
  const said = metadata && { mode: 'merge' as const, values: Object.entries(metadata) };
  if (kind === 'directory') {
    return { kind, op: 'put', path, mustExist: false, metadata: said, ownerId, groupId, mode };
  }
  return {
    kind,
    op: 'put',
    path,
    size,
    checksum,
    checksumType: checksumTypeOf(checksum, checksumType),
    guid,
    metadata: said,
    replicas,
    ownerId,
    groupId,
    mode,
  };
}

function violationOf({ path, problem }: Misfit): Violation {
  const field = path.findLast((step) => typeof step === 'string') ?? 'line';
  return { field: String(field), problem };
}

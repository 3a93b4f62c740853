/** The catalogue by brute force: every question looks at every directory. Rules from the specification only. */
export interface ModelCondition {
  field: string;
  operator: '<' | '>' | '=' | '<=' | '>=' | '!=' | 'in' | 'nin';
  operands: (number | string)[];
}

export interface ModelActor {
  user: string;
  group: string;
  isManager: boolean;
  /** Virtual organisation of the group. */
  vo?: string;
  /** Reaches all virtual organisations. */
  hasNoBorder?: boolean;
}

/** Virtual organisations that there are, and whether their members read everything of them. */
export interface ModelBorder {
  vos: readonly string[];
  membersReadAll: boolean;
}

export type ModelOutcome = 'created' | 'updated' | 'unchanged' | 'deleted' | 'absent' | number;

interface ModelDirectory {
  owner: string;
  group: string;
  mode: number;
  values: Map<string, number | string>;
  files: Map<string, { size: number }>;
}

export class CatalogueModel {
  constructor(private readonly border: ModelBorder = { vos: [], membersReadAll: false }) {}

  readonly directories = new Map<string, ModelDirectory>([
    ['/', { owner: 'root', group: 'root', mode: 0o755, values: new Map(), files: new Map() }],
  ]);

  putDirectory(
    actor: ModelActor,
    path: string,
    given: { mode?: number; values?: Record<string, number | string | null> },
  ): ModelOutcome {
    const existing = this.directories.get(path);
    const nearest =
      chain(path)
        .filter((above) => this.directories.has(above))
        .at(-1) ?? '/';
    const set = Object.entries(given.values ?? {});
    if (!existing) {
      if (chain(path).some((above) => this.fileAt(above))) return 409;
      if (!this.mayWrite(actor, nearest)) return 403;
    } else {
      if (
        given.mode !== undefined &&
        given.mode !== existing.mode &&
        !actor.isManager &&
        existing.owner !== actor.user
      )
        return 403;
      if (given.values && !this.mayWrite(actor, path)) return 403;
    }
    for (const [field, value] of set) {
      if (value === null) continue;
      const others = [...this.directories]
        .filter(([at, d]) => at !== path && d.values.has(field))
        .map(([at]) => at);
      if (others.some((at) => isBelow(path, at) || isBelow(at, path))) return 409;
    }
    if (!existing) this.make(actor, path, given.mode);
    const directory = this.directories.get(path) as ModelDirectory;
    const before = JSON.stringify([directory.mode, [...directory.values].sort()]);
    if (given.mode !== undefined) directory.mode = given.mode;
    for (const [field, value] of set) {
      if (value === null) directory.values.delete(field);
      else directory.values.set(field, value);
    }
    if (!existing) return 'created';
    return JSON.stringify([directory.mode, [...directory.values].sort()]) === before
      ? 'unchanged'
      : 'updated';
  }

  putFile(actor: ModelActor, path: string, size: number): ModelOutcome {
    if (this.directories.has(path)) return 409;
    const parent = parentOf(path);
    const known = this.directories.get(parent)?.files.get(nameOf(path));
    const nearest =
      chain(parent)
        .filter((above) => this.directories.has(above))
        .at(-1) ?? '/';
    if (!known && chain(parent).some((above) => this.fileAt(above))) return 409;
    if (!this.mayWrite(actor, nearest)) return 403;
    if (known) return known.size === size ? 'unchanged' : 409;
    this.make(actor, parent);
    this.directories.get(parent)?.files.set(nameOf(path), { size });
    return 'created';
  }

  delete(actor: ModelActor, kind: 'file' | 'directory', path: string): ModelOutcome {
    const parent = this.directories.get(parentOf(path));
    if (kind === 'file') {
      if (!parent?.files.has(nameOf(path))) return 'absent';
      if (!this.mayWrite(actor, parentOf(path))) return 403;
      parent.files.delete(nameOf(path));
      return 'deleted';
    }
    const directory = this.directories.get(path);
    if (!directory) return 'absent';
    if (path === '/' || !this.mayWrite(actor, parentOf(path))) return 403;
    const isEmpty =
      directory.files.size === 0 && ![...this.directories.keys()].some((at) => isBelow(at, path));
    if (!isEmpty) return 409;
    this.directories.delete(path);
    return 'deleted';
  }

  move(from: string, to: string): void {
    for (const [path, directory] of [...this.directories]) {
      if (path !== from && !isBelow(path, from)) continue;
      this.directories.delete(path);
      this.directories.set(to + path.slice(from.length), directory);
    }
  }

  /** The value of the nearest directory that carries the field. */
  effective(path: string, field: string): number | string | undefined {
    const carrier = chain(path)
      .reverse()
      .find((above) => this.directories.get(above)?.values.has(field));
    return carrier === undefined ? undefined : this.directories.get(carrier)?.values.get(field);
  }

  /** Does the path belong to a virtual organisation that the reader does not reach? */
  isForeign(reader: ModelActor, path: string): boolean {
    const vo = this.voOf(path);
    if (vo === undefined || reader.isManager || reader.hasNoBorder) return false;
    return vo !== reader.vo;
  }

  /** Readable: it and everything above it grant r, unless the border of virtual organisations says it. */
  isReadable(reader: ModelActor | undefined, path: string): boolean {
    if (!reader || reader.isManager) return true;
    if (this.isForeign(reader, path)) return false;
    if (this.voOf(path) !== undefined && this.border.membersReadAll) return true;
    return chain(path).every((above) => this.grants(reader, above, 4));
  }

  matches(start: string, conditions: ModelCondition[], reader?: ModelActor): string[] {
    return [...this.directories.keys()]
      .filter((path) => path === start || isBelow(path, start))
      .filter((path) => this.isReadable(reader, path))
      .filter((path) =>
        conditions.every((condition) => holds(condition, this.effective(path, condition.field))),
      );
  }

  totals(path: string, reader?: ModelActor): { f: number; s: number } {
    let f = 0;
    let s = 0;
    for (const [at, directory] of this.directories) {
      if ((at !== path && !isBelow(at, path)) || !this.isReadable(reader, at)) continue;
      for (const { size } of directory.files.values()) {
        f += 1;
        s += size;
      }
    }
    return { f, s };
  }

  search(
    start: string,
    conditions: ModelCondition[],
    reader?: ModelActor,
  ): Map<string, { f: number; s: number }> {
    return new Map(
      this.matches(start, conditions, reader).map((path) => [path, this.totals(path, reader)]),
    );
  }

  /** Field → value → number of matching directories with it. */
  compatible(
    start: string,
    conditions: ModelCondition[],
    reader?: ModelActor,
  ): Map<string, Map<number | string, number>> {
    const answer = new Map<string, Map<number | string, number>>();
    const fields = new Set([...this.directories.values()].flatMap((d) => [...d.values.keys()]));
    for (const path of this.matches(start, conditions, reader)) {
      for (const field of fields) {
        const value = this.effective(path, field);
        if (value === undefined) continue;
        const values = answer.get(field) ?? new Map<number | string, number>();
        values.set(value, (values.get(value) ?? 0) + 1);
        answer.set(field, values);
      }
    }
    return answer;
  }

  mayWrite(actor: ModelActor, path: string): boolean {
    return actor.isManager || this.grants(actor, path, 2);
  }

  private voOf(path: string): string | undefined {
    return this.border.vos.find((vo) => path === `/${vo}` || isBelow(path, `/${vo}`));
  }

  private grants(actor: ModelActor, path: string, bit: number): boolean {
    const directory = this.directories.get(path) as ModelDirectory;
    if (directory.owner === actor.user) return (directory.mode & (bit * 64)) !== 0;
    if (directory.group === actor.group) return (directory.mode & (bit * 8)) !== 0;
    return (directory.mode & bit) !== 0;
  }

  private make(actor: ModelActor, path: string, mode = 0o775): void {
    for (const above of chain(path)) {
      if (this.directories.has(above)) continue;
      this.directories.set(above, {
        owner: actor.user,
        group: actor.group,
        mode: above === path ? mode : 0o775,
        values: new Map(),
        files: new Map(),
      });
    }
  }

  private fileAt(path: string): boolean {
    return this.directories.get(parentOf(path))?.files.has(nameOf(path)) === true;
  }
}

export function chain(path: string): string[] {
  const names = path === '/' ? [] : path.slice(1).split('/');
  return ['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)];
}

export function isBelow(path: string, above: string): boolean {
  return path !== above && path.startsWith(above === '/' ? '/' : `${above}/`);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function holds(
  { operator, operands }: ModelCondition,
  value: number | string | undefined,
): boolean {
  if (value === undefined) return false;
  const [operand] = operands as [number | string];
  if (operator === 'in' || operator === '=') return operands.includes(value);
  if (operator === 'nin' || operator === '!=') return !operands.includes(value);
  if (operator === '<') return value < operand;
  if (operator === '>') return value > operand;
  return operator === '<=' ? value <= operand : value >= operand;
}

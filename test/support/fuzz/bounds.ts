import type { ApiDocument, Operation, Parameter, Schema } from './document.js';

/** A value just inside or outside of what the document allows, and where it stands. */
export interface Probe {
  operation: Operation;
  /** Parameter or member. */
  field: string;
  /** Which rule of the document it is about, for example `minimum 1`. */
  rule: string;
  isInside: boolean;
  place: 'query' | 'path' | 'header' | 'body';
  /** Undefined leaves the parameter out. */
  value?: unknown;
  /** For bodies: media type and the whole body. */
  body?: { type: string; content: unknown };
}

type Pair = [rule: string, inside: unknown[], outside: unknown[]];

/** A character that no pattern of the document allows. */
const STRANGE = '\u00a7';

/** Derives from the document, for each of its rules about input, a value on either side of the rule. */
export class Bounds {
  constructor(
    private readonly document: ApiDocument,
    /** Values that are right, by the name of the parameter or member, where the document alone does not say. */
    private readonly known: Record<string, unknown>,
  ) {}

  /** All probes of an operation. */
  of(operation: Operation): Probe[] {
    const parameters = operation.parameters.flatMap((one) => this.ofParameter(operation, one));
    const bodies = Object.entries(operation.bodies).flatMap(([type, schema]) =>
      this.bodyVariants(schema).flatMap((variant) => this.ofBody(operation, type, variant)),
    );
    return [...parameters, ...bodies];
  }

  /** A body that the schema allows, with the given members where it requires or, without names of its own, takes them. */
  validBody(schema: Schema, own: Record<string, unknown>): unknown {
    const resolved = this.resolve(this.bodyVariants(schema)[0]!);
    if (resolved['additionalProperties'] && !resolved['properties']) return own['metadata'] ?? {};
    const body = this.valid(resolved) as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, own[name] ?? value]),
    );
  }

  /** A value that the schema allows: only what it requires. */
  valid(schema: Schema, name = ''): unknown {
    const resolved = this.resolve(schema);
    if (this.known[name] !== undefined) return this.known[name];
    if (resolved['enum']) return resolved['enum'][0];
    if (resolved['type'] === 'object') {
      const required = (resolved['required'] ?? []) as string[];
      return Object.fromEntries(
        required.map((key) => [key, this.valid(resolved['properties'][key], key)]),
      );
    }
    if (resolved['type'] === 'array') return [this.valid(resolved['items'] ?? {}, name)];
    if (resolved['example'] !== undefined) return resolved['example'];
    if (resolved['type'] === 'boolean') return true;
    return resolved['type'] === 'string' ? 'x' : ((resolved['minimum'] as number) ?? 1);
  }

  private ofParameter(operation: Operation, parameter: Parameter): Probe[] {
    const { name: field, in: place, required } = parameter;
    const schema = this.resolve(parameter.schema ?? {});
    if (schema['type'] === 'object') return [];
    const items = schema['type'] === 'array' ? this.resolve(schema['items']) : schema;
    const pairs = this.pairsOf(items, field);
    if (['integer', 'boolean'].includes(items['type'])) pairs.push(['type', [], ['maybe']]);
    if (required && place !== 'path') {
      pairs.push(['required', [this.valid(items, field)], [undefined]]);
    }
    return pairs.flatMap(([rule, inside, outside]) =>
      [inside, outside].flatMap((values, side) =>
        values.map((value) => ({ operation, field, rule, isInside: side === 0, place, value })),
      ),
    );
  }

  private ofBody(operation: Operation, type: string, schema: Schema): Probe[] {
    const resolved = this.resolve(schema);
    const isPage = this.resolve(schema)['properties']?.csrf !== undefined;
    // forms of pages are believed with their own secret only, whatever else they say
    if (resolved['type'] !== 'object' || type === 'multipart/form-data' || isPage) return [];
    const isJson = type === 'application/json';
    const base = this.valid(schema) as Record<string, unknown>;
    return this.membersOf(resolved, base, isJson).map(({ content, ...rest }) => ({
      operation,
      place: 'body',
      body: { type, content },
      ...rest,
    }));
  }

  /** Probes of the members of an object, as whole bodies. */
  private membersOf(
    schema: Schema,
    base: Record<string, unknown>,
    isJson: boolean,
  ): (Pick<Probe, 'field' | 'rule' | 'isInside'> & { content: unknown })[] {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
    const probes = properties.flatMap(([field, inner]) => {
      const member = this.resolve(inner);
      const pairs = this.pairsOf(member, field);
      if (isJson && !this.allowsNull(member)) pairs.push(['null', [], [null]]);
      const own = pairs.flatMap(([rule, inside, outside]) =>
        [inside, outside].flatMap((values, side) =>
          values.map((value) => ({
            field,
            rule,
            isInside: side === 0,
            content: { ...base, [field]: value },
          })),
        ),
      );
      return [...own, ...this.nested(field, member, base, isJson)];
    });
    for (const field of (schema['required'] ?? []) as string[]) {
      const { [field]: _left, ...content } = base;
      probes.push({ field, rule: 'required', isInside: false, content });
    }
    if (schema['additionalProperties'] === false) {
      const content = { ...base, notThere: 1 };
      probes.push({ field: 'notThere', rule: 'closed', isInside: false, content });
    }
    return probes;
  }

  /** Probes of objects within: values of a map, items of a list. */
  private nested(
    field: string,
    member: Schema,
    base: Record<string, unknown>,
    isJson: boolean,
  ): ReturnType<Bounds['membersOf']> {
    const isMap = typeof member['additionalProperties'] === 'object';
    const inner = this.resolve((isMap ? member['additionalProperties'] : member['items']) ?? {});
    if (inner['type'] !== 'object') return [];
    const wrapped = (content: unknown): unknown =>
      isMap ? { [String(this.known['SE'])]: content } : [content];
    const whole = { field, rule: 'null within', isInside: false, content: null as unknown };
    return [
      whole,
      ...this.membersOf(inner, this.valid(inner) as Record<string, unknown>, isJson),
    ].map((probe) => ({ ...probe, content: { ...base, [field]: wrapped(probe.content) } }));
  }

  private pairsOf(schema: Schema, name: string): Pair[] {
    const pairs: Pair[] = [];
    const { minimum, maximum, minLength, maxLength, maxItems, pattern } = schema;
    if (minimum !== undefined) pairs.push([`minimum ${minimum}`, [minimum], [minimum - 1]]);
    if (maximum !== undefined) pairs.push([`maximum ${maximum}`, [maximum], [maximum + 1]]);
    if (schema['enum']) pairs.push(['enum', [schema['enum'][0], schema['enum'].at(-1)], ['none']]);
    if (pattern !== undefined) pairs.push(['pattern', [this.valid(schema, name)], [STRANGE]]);
    if (minLength !== undefined)
      pairs.push([`minLength ${minLength}`, ['a'.repeat(minLength)], ['']]);
    if (maxLength !== undefined) {
      const longest = 'a'.repeat(maxLength);
      pairs.push([`maxLength ${maxLength}`, [longest], [`${longest}a`]]);
    }
    if (maxItems !== undefined) {
      const list = Array.from({ length: maxItems }, (_, index) => `i${index}`);
      pairs.push([`maxItems ${maxItems}`, [list], [[...list, 'more']]]);
    }
    return pairs;
  }

  private allowsNull({ type }: Schema): boolean {
    return type === undefined || (Array.isArray(type) && type.includes('null'));
  }

  private bodyVariants(schema: Schema): Schema[] {
    const resolved = this.resolve(schema);
    return (resolved['oneOf'] as Schema[] | undefined) ?? [schema];
  }

  private resolve(schema: Schema): Schema {
    const name = (schema['$ref'] as string | undefined)?.split('/').at(-1);
    return name === undefined ? schema : this.resolve(this.document.schemas[name] ?? {});
  }
}

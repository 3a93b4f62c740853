import { Injectable } from '@nestjs/common';
import { requirePath, type Principal } from '#src/auth/index.js';
import { stringifyJson } from '#src/kernel/index.js';
import type { AnswerWriter } from '../answer/answer-writer.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { MatchFinder, type MatchRequest } from '../matching/match-finder.service.js';
import {
  readCompatibleValues,
  type CompatibleValueRow,
  type ValuesWanted,
} from './compatible-values.repository.js';
import { presentValue, valueOf, type StoredValue } from '../metadata/metadata-field.js';

/** What to write: with types and values in objects, or the plain lists of one directory. */
export type ValuesShape = 'fields' | 'lists';

/** Metadata values that lead to a match (the exact rule). */
@Injectable()
export class CompatibleValuesService {
  constructor(
    private readonly policy: CataloguePolicy,
    private readonly finder: MatchFinder,
  ) {}

  /**
   * Writes the values that hold on the directories below the path which fulfil the conditions; `{}` when none does.
   * 400, 404 before anything is written.
   */
  async write(
    principal: Principal,
    request: MatchRequest & ValuesWanted & { shape: ValuesShape },
    writer: AnswerWriter,
  ): Promise<void> {
    requirePath(principal, 'read', { path: request.path, kind: 'directory' });
    const actor = await this.policy.readerOf(principal, request.path);
    const text = new ValuesText(request.shape, request);
    await this.finder.find(actor, { ...request, withTotals: false }, async (snapshot, { plan }) => {
      for await (const rows of readCompatibleValues(snapshot, plan, request)) {
        writer.requireClient();
        for (const row of rows) {
          if (writer.push(text.add(row))) await writer.flush();
        }
      }
    });
    writer.push(text.finish());
  }
}

/** Text of the answer while values come sorted by field and value. */
class ValuesText {
  private field: CompatibleValueRow | undefined;

  constructor(
    private readonly shape: ValuesShape,
    private readonly wanted: ValuesWanted,
  ) {}

  add(row: CompatibleValueRow): string {
    const value = show(row, valueOf(row));
    const item = this.wanted.counts ? `{"value":${value},"directories":${row.directories}}` : value;
    if (this.field?.name === row.name) return `,${item}`;
    const before = this.field ? `${this.endField()},` : '{';
    this.field = row;
    return `${before}${JSON.stringify(row.name)}:${this.beginField(row)}${item}`;
  }

  finish(): string {
    return this.field ? `${this.endField()}}` : '{}';
  }

  private get isList(): boolean {
    return this.shape === 'lists' && this.wanted.maxValues === undefined;
  }

  private beginField({ type }: CompatibleValueRow): string {
    if (this.isList) return '[';
    return this.shape === 'fields' ? `{"type":"${type}","values":[` : '{"values":[';
  }

  private endField(): string {
    const { field } = this;
    if (this.isList || !field) return ']';
    if (this.wanted.maxValues === undefined) return ']}';
    const last = field.last_int ?? field.last_float ?? field.last_text ?? '';
    const bounds = `"min":${show(field, valueOf(field))},"max":${show(field, last)}`;
    return `],"total":${field.total},${bounds}}`;
  }
}

function show(row: CompatibleValueRow, value: StoredValue): string {
  return stringifyJson(presentValue(row.type, value));
}

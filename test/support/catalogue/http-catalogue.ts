import {
  chain,
  isBelow,
  type CatalogueModel,
  type ModelActor,
  type ModelCondition,
} from './model.js';
import { MODEL_FIELDS, type Change } from './arbitraries.js';
import type { Answer, Grid, GridClient, Identity } from '../testbed.js';

const at = (path: string): string => Buffer.from(path).toString('base64url');

/** Addresses of the catalogue's routes. */
export const routes = {
  directory: (path: string): string => `/filecatalogue/directory/${at(path)}`,
  file: (path: string): string => `/filecatalogue/file/${at(path)}`,
};

/** The catalogue of a running server, as the people of the model use it. */
export class HttpCatalogue {
  constructor(readonly grid: Grid) {}

  as({ user, group }: ModelActor): Promise<GridClient> {
    return this.grid.as(user as Identity, group);
  }

  /** Nothing but a root in which everybody may write, and the model's fields. */
  async reset(): Promise<void> {
    await this.grid.sql(
      'truncate catalogue_segment, catalogue_value, catalogue_field, catalogue_file, catalogue_delta, catalogue_bytes',
    );
    await this.grid.sql('delete from catalogue_directory where parent is not null');
    await this.grid.sql(
      'update catalogue_directory set sub_files = 0, sub_bytes = 0, next_ordinal = 0, mode = 511',
    );
    const fred = await this.grid.as('fred');
    await this.bulk(
      fred,
      MODEL_FIELDS.map(([name, type]) => ({ kind: 'field', name, type })),
    );
  }

  /** Applies changes in somebody's name; lines that are refused are part of the game. */
  async write(actor: ModelActor, changes: Change[]): Promise<void> {
    await this.bulk(await this.as(actor), changes);
  }

  private async bulk(client: GridClient, lines: object[]): Promise<void> {
    const answer = await client.post('/filecatalogue/bulk', {
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    if (answer.status !== 200) throw new Error(`bulk: ${answer.status} ${answer.bytes.toString()}`);
  }
}

/** Conditions as a query. */
export function queryOf(conditions: ModelCondition[]): string {
  const query = new URLSearchParams();
  for (const { field, operator, operands } of conditions)
    query.append(field, `${operator}|${operands.join(',')}`);
  return query.toString();
}

/** Lines of an NDJSON answer. */
export function linesOf(answer: Answer): any[] {
  const text = answer.bytes.toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

interface Tree {
  f?: number;
  s?: number;
  d?: Record<string, Tree>;
}

/** The whole answer of a search, from what the model finds. */
export function treeOf(start: string, found: Map<string, { f: number; s: number }>): Tree {
  const root: Tree = { f: 0, s: 0 };
  for (const [path, totals] of found) {
    let node = root;
    for (const above of chain(path).filter((each) => isBelow(each, start))) {
      node.d ??= {};
      node = node.d[above.slice(above.lastIndexOf('/') + 1)] ??= {};
    }
    Object.assign(node, totals);
  }
  return root;
}

/** Lies the directory, or where it would be, in what the reader may not see? */
export function isHidden(model: CatalogueModel, reader: ModelActor, directory: string): boolean {
  const nearest = chain(directory).filter((above) => model.directories.has(above));
  return !model.isReadable(reader, nearest.at(-1) as string);
}

/** What is told of a directory: what may not be seen is not there, but the root, which everybody knows. */
export function statusOf(model: CatalogueModel, reader: ModelActor, directory: string): number {
  if (isHidden(model, reader, directory)) return directory === '/' ? 403 : 404;
  return model.directories.has(directory) ? 200 : 404;
}

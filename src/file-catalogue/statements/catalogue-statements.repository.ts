import type { Statement, Transaction } from '#src/database/index.js';

const FETCH_ROWS = 2_000;
const MAX_STATEMENT_NAMES = 400;
const names = new Map<string, string>();

/** Collects the values of a statement while its text is written. */
export class StatementText {
  readonly values: unknown[] = [];

  /** The placeholder of a value. */
  bind(value: unknown, cast: string): string {
    this.values.push(value);
    return `$${this.values.length}::${cast}`;
  }

  /** The statement; texts of a shape that was met before share one prepared statement. */
  statement(text: string): Statement {
    const name = nameOf(text);
    return { text, values: this.values, ...(name === undefined ? {} : { name }) };
  }
}

/** A name for a text that is put together; undefined when there are too many shapes already. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_STATEMENT_NAMES) return known;
  const name = `catalogue-shape-${names.size + 1}`;
  names.set(text, name);
  return name;
}

/**
 * Rows of a statement through a server-side cursor, some thousand at a time. One cursor per transaction. The whole
 * answer will be read, so the planner is told not to favour the first rows.
 */
export async function* cursorRows<Row>(
  transaction: Transaction,
  statement: Statement,
): AsyncGenerator<Row[]> {
  const { text, values = [] } = statement;
  await transaction.execute({ text: 'set local cursor_tuple_fraction = 1' });
  await transaction.execute({ text: `declare answer no scroll cursor for ${text}`, values });
  for (;;) {
    const rows = await transaction.query<Row>({
      name: 'catalogue-fetch',
      text: `fetch ${FETCH_ROWS} from answer`,
    });
    if (rows.length > 0) yield rows;
    if (rows.length < FETCH_ROWS) break;
  }
  await transaction.execute({ text: 'close answer' });
}

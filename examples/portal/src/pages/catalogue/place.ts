/** What is chosen of a field: one of these texts, or of numbers and dates one value or a range. */
export interface Choice {
  values?: string[];
  exact?: string;
  from?: string;
  to?: string;
}

/** Where one is in the catalogue and what is chosen. */
export interface CataloguePlace {
  at: string;
  chosen: Record<string, Choice>;
  /** The address of this place with changes. */
  hash(change: { at?: string; chosen?: Record<string, Choice> }): string;
}

/** Reads a place from the address: `at=/vo`, and conditions as the service spells them. */
export function queryOf(query: URLSearchParams): CataloguePlace {
  const chosen = Object.create(null) as Record<string, Choice>; // __proto__ is a name like any other
  for (const [name, condition] of query) {
    const [operation, value] = split(condition);
    if (value === undefined) continue;
    const choice = (chosen[name] ??= {});
    if (operation === 'in') choice.values = value.split(',');
    if (operation === '=') choice.exact = value;
    if (operation === '>=') choice.from = value;
    if (operation === '<=') choice.to = value;
  }
  const at = query.get('at') ?? '/';
  return {
    at,
    chosen,
    hash: (change) => {
      const next = new URLSearchParams({ at: change.at ?? at });
      const conditions = conditionsOf(change.chosen ?? chosen);
      for (const [name, list] of Object.entries(conditions)) {
        for (const condition of list) next.append(name, condition);
      }
      return `#/catalogue?${next.toString()}`;
    },
  };
}

/** The conditions of the service for what is chosen. */
export function conditionsOf(chosen: Record<string, Choice>): Record<string, string[]> {
  const conditions = Object.create(null) as Record<string, string[]>;
  for (const [name, { values = [], exact, from, to }] of Object.entries(chosen)) {
    const list = [
      ...(values.length > 0 ? [`in|${values.join(',')}`] : []),
      ...(exact !== undefined ? [`=|${exact}`] : []),
      ...(from !== undefined ? [`>=|${from}`] : []),
      ...(to !== undefined ? [`<=|${to}`] : []),
    ];
    if (list.length > 0) conditions[name] = list;
  }
  return conditions;
}

function split(condition: string): [string, string | undefined] {
  const bar = condition.indexOf('|');
  return bar < 0 ? [condition, undefined] : [condition.slice(0, bar), condition.slice(bar + 1)];
}

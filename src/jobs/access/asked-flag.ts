import { queryValuesOf, type HttpRequest } from '#src/http/index.js';

/** Is the flag of the query set? Never throws: a bad spelling was refused before. */
export function isAsked(request: HttpRequest, flag: string): boolean {
  const query = queryValuesOf(request);
  return query.all(flag).length === 1 && /^(true|1|yes|)$/i.test(query.all(flag)[0] ?? '');
}

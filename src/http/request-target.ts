const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/**
 * The target of a request as a path with its query: clients may send the whole address (RFC 9112 §3.2.2), and nothing here
 * asks by which name it was reached.
 */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(ABSOLUTE, '');
  if (rest === target || rest.startsWith('/')) return rest;
  return `/${rest}`;
}

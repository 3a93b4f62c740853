/** A group membership as AARC-G069 writes it. */
export interface Entitlement {
  vo: string;
  /** Sub-groups from the VO downwards. */
  subgroups: string[];
  role: string | undefined;
}

const ROLE = 'role=';

/**
 * Reads an entitlement `urn:<namespace>:group[:registry]:<vo>[:<sub-group>…][:role=<role>][#<authority>]` in one
 * pass and without a regular expression (a pattern for it backtracks for seconds on hostile values); undefined
 * when the value is none.
 */
export function parseEntitlement(value: string): Entitlement | undefined {
  const hash = value.indexOf('#');
  const elements = (hash < 0 ? value : value.slice(0, hash)).split(':');
  if (elements[0]?.toLowerCase() !== 'urn') return undefined;
  const group = elements.indexOf('group', 2);
  if (group < 0) return undefined;
  let at = group + 1;
  const after = elements[at + 1];
  if (elements[at] === 'registry' && after !== undefined && !after.startsWith(ROLE)) at += 1;
  const vo = elements[at];
  if (vo === undefined || vo === '' || vo.startsWith(ROLE)) return undefined;
  const subgroups: string[] = [];
  for (const element of elements.slice(at + 1)) {
    if (element.startsWith(ROLE)) {
      const role = element.slice(ROLE.length);
      return { vo, subgroups, role: role === '' ? undefined : role };
    }
    subgroups.push(element);
  }
  return { vo, subgroups, role: undefined };
}

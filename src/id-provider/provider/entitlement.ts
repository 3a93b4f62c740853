/** A group membership as AARC-G069 writes it. */
export interface Entitlement {
  /** Who gives the name its meaning, as written: `urn:mace:egi.eu`. */
  namespace: string;
  /** Who says that it holds, behind the `#`. */
  authority: string | undefined;
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
  const below = elements.slice(at + 1);
  const end = below.findIndex((element) => element.startsWith(ROLE));
  return {
    namespace: elements.slice(0, group).join(':'),
    authority: hash < 0 ? undefined : value.slice(hash + 1),
    vo,
    subgroups: end < 0 ? below : below.slice(0, end),
    role: below[end]?.slice(ROLE.length) || undefined,
  };
}

/**
 * Whether an entitlement is of one of these sources, each a namespace or `<namespace>#<authority>`; of any where no
 * sources are named. `urn` and the word behind it are the same in any case (RFC 8141 §3.1), everything else is not.
 */
export function isFrom(entitlement: Entitlement, sources: readonly string[] | undefined): boolean {
  if (sources === undefined) return true;
  const { namespace, authority } = entitlement;
  return sources.some((source) => {
    const hash = source.indexOf('#');
    if (hash >= 0 && source.slice(hash + 1) !== authority) return false;
    return normal(hash < 0 ? source : source.slice(0, hash)) === normal(namespace);
  });
}

function normal(namespace: string): string {
  const [urn = '', id = '', ...rest] = namespace.split(':');
  return [urn.toLowerCase(), id.toLowerCase(), ...rest].join(':');
}

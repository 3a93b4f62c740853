/** Id of a job: a number, or a bigint beyond 2^53. */
export type Jid = number | bigint;

const MAX_JID = 2n ** 63n - 1n;

/** The id that a text spells; undefined for anything that is no positive 64-bit integer without leading zeros. */
export function parseJid(text: string): Jid | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(text)) return undefined;
  const value = BigInt(text);
  if (value > MAX_JID) return undefined;
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** Ids for the audit trail, shortened: `["7", "10-12"]`; whatever their order, each once. */
export function idRanges(jids: readonly Jid[]): string[] {
  const sorted = [...new Set(jids.map(BigInt))].sort((a, b) => (a < b ? -1 : 1));
  const ranges: { first: bigint; last: bigint }[] = [];
  for (const jid of sorted) {
    const range = ranges.at(-1);
    if (range && jid === range.last + 1n) range.last = jid;
    else ranges.push({ first: jid, last: jid });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`));
}

/** What the record shows before a site has taken the job. */
export function shownSite(sites: readonly string[]): string {
  if (sites.length === 0) return 'ANY';
  return sites.length === 1 ? (sites[0] as string) : 'Multiple';
}

interface Accepted {
  type: string;
  quality: number;
}

/**
 * The offered media type that the `Accept` header likes best (RFC 9110 §12.5.1), the first offer for no header and when
 * none will do: like every other route, which has one representation and sends it (RFC 9110 §12.4.1).
 */
export function acceptedType(header: string | undefined, offers: readonly string[]): string {
  const [first = ''] = offers;
  if (header === undefined || header.trim() === '') return first;
  const accepted = header.split(',').map(readAccepted);
  const rated = offers.map((offer) => ({ offer, ...rate(offer, accepted) }));
  const best = rated
    .filter((candidate) => candidate.quality > 0)
    .sort((a, b) => b.quality - a.quality || b.precision - a.precision)[0];
  return best?.offer ?? first;
}

function readAccepted(part: string): Accepted {
  const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
  const quality = parameters.find((text) => text.startsWith('q='));
  const value = quality === undefined ? 1 : Number(quality.slice(2));
  return { type, quality: Number.isFinite(value) ? value : 0 };
}

/** The most precise matching range decides (RFC 9110: `text/plain` before `text/*` before any). */
function rate(
  offer: string,
  accepted: readonly Accepted[],
): { quality: number; precision: number } {
  const names = ['*/*', `${offer.split('/')[0]}/*`, offer];
  let best = { quality: 0, precision: -1 };
  for (const { type, quality } of accepted) {
    const precision = names.indexOf(type);
    if (precision > best.precision) best = { quality, precision };
  }
  return best;
}

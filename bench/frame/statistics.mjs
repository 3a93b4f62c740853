/** Median of numbers; NaN of none. */
export function median(numbers) {
  return quantile(numbers, 0.5);
}

/** The value below which the share of the numbers lies (linear between neighbours). */
export function quantile(numbers, share) {
  if (numbers.length === 0) return Number.NaN;
  const sorted = [...numbers].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const above = Math.ceil(place);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

/** How many times better the floor is than the figure. */
export function ratioOf(figure, floor, better) {
  return better === 'higher' ? floor / figure : figure / floor;
}

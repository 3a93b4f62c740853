/** Matches `*` and `?` in time that is at most the product of both lengths, whatever the pattern. */
export function matchesPattern(name: string, pattern: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false;
  const letters = [...name];
  const signs = [...pattern];
  let at = 0;
  let sign = 0;
  let star = -1;
  let retry = 0;
  while (at < letters.length) {
    if (signs[sign] === '*') {
      star = sign;
      sign += 1;
      retry = at;
    } else if (sign < signs.length && (signs[sign] === '?' || signs[sign] === letters[at])) {
      sign += 1;
      at += 1;
    } else if (star >= 0) {
      sign = star + 1;
      retry += 1;
      at = retry;
    } else return false;
  }
  while (signs[sign] === '*') sign += 1;
  return sign === signs.length;
}

/** Controls, marks that turn the direction of a line, and what has no width: people would read something else than is there. */
const UNSEEN = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/u;

/** Whether people see of a text of one line what it is. */
export function isPlainText(text: string): boolean {
  return !UNSEEN.test(text);
}

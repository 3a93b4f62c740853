/** A text as one word of the shell. Throws for NUL, which no program could be given. */
export function shellWord(text: string): string {
  if (text.includes('\0')) throw new Error('NUL in a command');
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

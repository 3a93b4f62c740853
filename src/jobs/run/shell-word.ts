/** A text as one word of the shell. Throws for NUL, which no program could be given. */
export function shellWord(text: string): string {
  if (text.includes('\0')) throw new Error('NUL in a command');
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Variables that some shells do not let anybody set: an assignment would end them. */
const READ_ONLY = /^(UID|EUID|PPID|BASHOPTS|SHELLOPTS|BASH_VERSINFO)$/;

/** Lines of a shell script that set variables: unlike words of `env` their values stand in no list of arguments. */
export function exportLines(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).map(([name, value]) =>
    READ_ONLY.test(name)
      ? `command export ${name}=${shellWord(value)} 2>/dev/null || :`
      : `export ${name}=${shellWord(value)}`,
  );
}

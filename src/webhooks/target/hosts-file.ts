import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

/** A larger file is no list of hosts that somebody keeps by hand; it is not read. */
const MOST_BYTES = 1_048_576;

/** The hosts file of the machine (hosts(5)): names that the name servers need not know. Read again when it has changed. */
export class HostsFile {
  private read: { version: string; names: Map<string, string[]> } | undefined;

  constructor(private readonly path = '/etc/hosts') {}

  /** The addresses of a name in the order of the file; none when it is not in the file, or there is no file. */
  async addressesOf(name: string): Promise<string[]> {
    const names = await this.names().catch(() => undefined);
    return names?.get(name.toLowerCase()) ?? [];
  }

  private async names(): Promise<Map<string, string[]>> {
    const { ino, mtimeMs, size } = await stat(this.path);
    const version = [ino, mtimeMs, size].join(' ');
    if (this.read?.version !== version) {
      const text = size > MOST_BYTES ? '' : await readFile(this.path, 'utf8');
      this.read = { version, names: namesIn(text) };
    }
    return this.read.names;
  }
}

function namesIn(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((one) => one.toLowerCase())) {
      found.set(name, [...(found.get(name) ?? []), address]);
    }
  }
  return found;
}

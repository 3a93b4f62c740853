import { readFileSync } from 'node:fs';

const ABOVE = ['../../package.json', '../../../package.json'];

/** The version in package.json. */
export function version(): string {
  for (const path of ABOVE) {
    try {
      const text = readFileSync(new URL(path, import.meta.url), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // sources lie two levels, the build three levels below package.json
    }
  }
  return 'unknown';
}

/**
 * Tests that were red without a known cause (test/quarantine.json: name, cause as far as known, the day by which it is mended or
 * deleted) are left out of whole runs. Run by itself it lists them and fails when a day has passed.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const LIST = new URL('../quarantine.json', import.meta.url);

/** Jest's option that leaves them out. */
export function withoutQuarantined() {
  const names = JSON.parse(readFileSync(LIST, 'utf8')).map(({ test }) =>
    test.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  );
  return names.length > 0 ? ['--testNamePattern', `^(?!.*(?:${names.join('|')})$)`] : [];
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const today = new Date().toISOString().slice(0, 10);
  for (const { test, cause, until } of JSON.parse(readFileSync(LIST, 'utf8'))) {
    process.stdout.write(`in quarantine until ${until}: ${test} (${cause})\n`);
    if (until < today) process.exitCode = 1;
  }
}

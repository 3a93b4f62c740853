import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAMES = [
  ...['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap((n) => [n, n.toUpperCase()]),
  'REQUEST_METHOD',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'NETRC',
  'NODE_ENV',
];

/** Takes the variables that this room reads out of the environment around each test of the calling file. */
export function useCleanEnvironment(): void {
  let saved: Record<string, string | undefined> = {};
  beforeEach(() => {
    saved = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));
    for (const name of NAMES) delete process.env[name];
    // Points away from the .netrc of whoever runs the tests.
    process.env['NETRC'] = join(tmpdir(), 'no-such-netrc');
  });
  afterEach(() => {
    for (const name of NAMES) {
      const value = saved[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}

import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { SshSettings } from './ssh-settings.js';

const SHOWN = 200;

/** What ssh says when it ends with 255, as the end of a sentence for people. */
const SAID: readonly (readonly [RegExp, (settings: SshSettings) => string])[] = [
  [
    /IDENTIFICATION HAS CHANGED/,
    ({ host }) => `the key of ${host} is another one than knownHostsFile says`,
  ],
  [
    /host key is known for|Host key verification failed/i,
    ({ host }) => `the key of ${host} is not in knownHostsFile`,
  ],
  [
    /Permission denied/,
    ({ host, user }) => `${host} does not take the key of identityFile for ${user}`,
  ],
  [
    /invalid format|error in libcrypto|incorrect passphrase/,
    () => 'identityFile is no key without a passphrase',
  ],
];

/** Why ssh has not worked, from what it wrote. */
export function sshFaultOf(stderr: string, settings: SshSettings): string {
  const known = SAID.find(([form]) => form.test(stderr));
  if (known !== undefined) return known[1](settings);
  const lines = stderr.split('\n').map((line) => line.trim());
  const last = lines.filter((line) => line !== '').at(-1) ?? 'it says nothing';
  return `ssh: ${last
    .replace(/^ssh: /, '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, SHOWN)}`;
}

/** Why the files of a connection cannot be used, as a sentence; undefined when they can. */
export async function fileFault(settings: SshSettings): Promise<string | undefined> {
  const { identityFile, knownHostsFile } = settings;
  return (
    (await faultOf(
      'identityFile',
      identityFile,
      0o077,
      'can be read by others than the service',
    )) ??
    (await faultOf(
      'knownHostsFile',
      knownHostsFile,
      0o022,
      'can be written by others than the service',
    ))
  );
}

async function faultOf(
  name: string,
  path: string,
  forbidden: number,
  why: string,
): Promise<string | undefined> {
  let found: Stats;
  try {
    found = await stat(path);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? `${name} is not there` : `${name} cannot be read (${code})`;
  }
  if (!found.isFile()) return `${name} is no file`;
  const isOwn = found.uid === process.getuid?.() || found.uid === 0;
  if (!isOwn) return `${name} belongs to somebody else than the service`;
  return (found.mode & forbidden) === 0 ? undefined : `${name} ${why}`;
}

import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './env.js';
import type { Logger } from 'pino';
import { KeyVault, KeyVaultError } from './key-vault.js';

/** One vault for each configuration, so that its warning is said once. */
const VAULTS = new WeakMap<Config, Promise<KeyVault>>();

/**
 * The vault of this process: GRID_KEY_ENCRYPTION_KEY, or with the embedded database a key file in GRID_HOME/pki
 * (made at the first start), or none, with a warning, when the database is elsewhere. In production the configuration
 * demands the former.
 */
export async function openVault(config: Config, logger: Logger): Promise<KeyVault> {
  const known = VAULTS.get(config);
  if (known) return known;
  const opening = open(config, logger);
  VAULTS.set(config, opening);
  opening.catch(() => VAULTS.delete(config)); // a key file may be mended
  return opening;
}

async function open(config: Config, logger: Logger): Promise<KeyVault> {
  if (config.keyEncryptionKey !== undefined) {
    return new KeyVault(Buffer.from(config.keyEncryptionKey, 'base64'));
  }
  if (config.databaseUrl === undefined) {
    return new KeyVault(await keyFile(join(config.homePath, 'pki')));
  }
  logger.warn(
    'GRID_KEY_ENCRYPTION_KEY is not set: private signing keys and tokens of identity providers are kept in the database without encryption',
  );
  return new KeyVault(undefined);
}

async function keyFile(directory: string): Promise<Buffer> {
  const path = join(directory, 'key-encryption.key');
  const known = await readKey(path);
  if (known) return known;
  await mkdir(directory, { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  try {
    await link(draft, path); // atomic: of two processes that start at once one wins
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readKey(path);
  if (!made) throw new KeyVaultError(`the key file ${path} vanished while it was made`);
  return made;
}

async function readKey(path: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === 32) return key;
  throw new KeyVaultError(`the key file ${path} does not hold the base64 of 32 bytes`);
}

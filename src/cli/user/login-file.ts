import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isJsonObject, parseJson, randomToken, stringifyJson } from '#src/kernel/index.js';
import type { TokenFields } from '#src/oauth2-client/index.js';
import { CommandError } from '../terminal/command-error.js';

/** Which of several logins. */
export interface LoginChoice {
  profile?: string;
  server?: string;
}

/** What `gridgate login` keeps: the server and the token, readable by the user only. */
export interface Login {
  server: string;
  /** CA file of the server. */
  ca?: string;
  /** Certificate and key of a login by certificate; they renew the token. */
  cert?: [certificate: string, key: string];
  group?: string;
  setup?: string;
  token: TokenFields;
}

/** client_id of this command; it comes with every service. */
export const COMMAND_CLIENT = 'gridgate-cli';
export const NOT_LOGGED_IN = 4;
const DEFAULT_PROFILE = 'default';
/** A login may grow by this when it is renewed, beside its double. */
const SPARE_BYTES = 4096;

/**
 * The login of this run of the command: that of `--profile`, before that of the environment, or the one to `--server`, whatever its
 * profile. A token never goes to another server than the one it is of. Throws CommandError.
 */
export async function chooseLogin({ profile, server }: LoginChoice): Promise<void> {
  const { env } = process;
  if (profile !== undefined) env['GRIDGATE_PROFILE'] = profile;
  if (server === undefined) return;
  const wanted = server.replace(/(?<!\/)\/+$/, '');
  const named = env['GRIDGATE_PROFILE'];
  const profiles = named ? [named] : [DEFAULT_PROFILE, ...(await namedProfiles(env))];
  for (const name of profiles) {
    const login = await readLogin(loginPath({ ...env, GRIDGATE_PROFILE: name })).catch(() => null);
    if (login?.server !== wanted) continue;
    env['GRIDGATE_PROFILE'] = name;
    return;
  }
  const where = named ? ` with the profile ${named}` : '';
  const hint = `run \`gridgate login --server ${wanted} --profile NAME\``;
  throw new CommandError(`not logged in to ${wanted}${where}`, NOT_LOGGED_IN, hint);
}

/** The names of the logins that are kept here; the one without a name is called `default` and comes first. */
export async function profileNames(environment: NodeJS.ProcessEnv): Promise<string[]> {
  const isThere = existsSync(loginPath({ ...environment, GRIDGATE_PROFILE: DEFAULT_PROFILE }));
  return [...(isThere ? [DEFAULT_PROFILE] : []), ...(await namedProfiles(environment))];
}

async function namedProfiles(environment: NodeJS.ProcessEnv): Promise<string[]> {
  const plain = loginPath({ ...environment, GRIDGATE_PROFILE: DEFAULT_PROFILE });
  const files = await readdir(join(dirname(plain), 'profiles')).catch(() => []);
  return files.flatMap((file) => /^([A-Za-z0-9][\w.-]{0,63})\.json$/.exec(file)?.[1] ?? []).sort();
}

/** The name of the login of this run of the command. */
export function currentProfile(environment: NodeJS.ProcessEnv): string {
  return environment['GRIDGATE_PROFILE'] || DEFAULT_PROFILE;
}

/**
 * Where the login is kept: `$XDG_CONFIG_HOME/gridgate/login.json`, else below `~/.config`; that of a profile (GRIDGATE_PROFILE)
 * in `profiles/NAME.json` there. Throws CommandError.
 */
export function loginPath(environment: NodeJS.ProcessEnv): string {
  const base = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] || '.', '.config');
  const profile = currentProfile(environment);
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(profile)) {
    const hint = 'give up to 64 letters, digits, dots, - and _';
    throw new CommandError(`${profile} is no name of a profile`, 2, hint);
  }
  const folder = join(base, 'gridgate');
  return profile === DEFAULT_PROFILE
    ? join(folder, 'login.json')
    : join(folder, 'profiles', `${profile}.json`);
}

/** Reads the login. Throws CommandError (exit code 4) when there is none, and when the file holds none. */
export async function readLogin(path: string): Promise<Login> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = `the login in ${path} cannot be read (${code})`;
    throw notLoggedIn(code === 'ENOENT' ? 'not logged in' : why, path);
  }
  const value = valueOf(bytes);
  if (isLogin(value)) return value;
  throw notLoggedIn(`the login in ${path} is damaged`, path);
}

function notLoggedIn(why: string, path: string): CommandError {
  return new CommandError(why, NOT_LOGGED_IN, `run \`${loginCommand(path)}\``);
}

function loginCommand(path: string): string {
  const profile = /\/profiles\/([^/]+)\.json$/.exec(path)?.[1];
  return `gridgate login --server URL${profile === undefined ? '' : ` --profile ${profile}`}`;
}

function valueOf(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch {
    return undefined; // a file that was cut
  }
}

function isLogin(value: unknown): value is Login {
  return isJsonObject(value) && typeof value['server'] === 'string' && isJsonObject(value['token']);
}

/** Writes the login, mode 0600, whole or not at all. Throws CommandError. */
export async function writeLogin(path: string, login: Login): Promise<void> {
  const draft = `${path}.${randomToken(6)}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(draft, textOf(login), { mode: 0o600 });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw notWritten(path, error, 'there is no new login');
  }
}

/**
 * Puts what `renew` answers in the place of the login. Room for it is taken before, so that a full disk leaves the old login,
 * which the service would not take any more after the renewal. Throws CommandError, and what `renew` throws.
 */
export async function replaceLogin(
  path: string,
  old: Login,
  renew: () => Promise<Login>,
): Promise<Login> {
  const draft = `${path}.${randomToken(6)}`;
  const spare = randomBytes(2 * textOf(old).length + SPARE_BYTES); // zeros might take no room
  const refuse = (error: unknown): never => {
    throw notWritten(path, error, 'the login cannot be renewed');
  };
  try {
    await writeFile(draft, spare, { mode: 0o600, flag: 'wx' }).catch(refuse);
    const login = await renew();
    await place(draft, { path, text: textOf(login) }).catch(refuse);
    return login;
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** Writes the text where the draft has room already, and gives it its name. */
async function place(draft: string, { path, text }: { path: string; text: string }): Promise<void> {
  await writeFile(draft, text, { flag: 'r+' });
  await truncate(draft, Buffer.byteLength(text));
  await rename(draft, path);
}

function notWritten(path: string, error: unknown, what: string): CommandError {
  const { code } = error as NodeJS.ErrnoException;
  return new CommandError(`${path} cannot be written (${code}): ${what}`, 1, 'make room there');
}

function textOf(login: Login): string {
  return `${stringifyJson(login, 2)}\n`;
}

/** Forgets the login. */
export async function removeLogin(path: string): Promise<void> {
  await rm(path, { force: true });
}

import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/** A directory of the machine that jobs see (`GRID_LOCAL_BINDS`). */
export interface Bind {
  path: string;
  isWritable: boolean;
}

/** What of the machine jobs see, beside their own directories, `/proc`, `/dev` and `/tmp`. */
export interface SystemView {
  /** Directories and files, shown read-only at their own place. */
  shown: readonly string[];
  /** Top directories that are links on this machine: name → target. */
  links: ReadonlyMap<string, string>;
  binds: readonly Bind[];
  /** Directories of the service that lie below what is shown: an empty one stands in their place. */
  hidden: readonly string[];
}

const TREES = '/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /nix/store'.split(' ');
/** Of /etc only what programs need to run and to speak; the machine's other configuration is nobody's business. */
const ETC = [
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'localtime', 'timezone'],
  ...['nsswitch.conf', 'host.conf', 'hosts', 'resolv.conf', 'gai.conf', 'services', 'protocols'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'pki/tls/certs', 'pki/ca-trust/extracted', 'ca-certificates'],
  ...['grid-security/certificates', 'mime.types', 'magic', 'fonts', 'locale.conf', 'locale.alias'],
  ...['profile', 'bash.bashrc', 'bashrc', 'inputrc', 'terminfo', 'python3', 'perl', 'R'],
].map((name) => `/etc/${name}`);

/** Reads `GRID_LOCAL_BINDS`: `/cvmfs:ro,/scratch:rw`. Throws Error for anything else. */
export function parseBinds(text: string): Bind[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const match = /^(\/[^:,\0]*[^:,/\0])\/?:(ro|rw)$/.exec(item);
      const path = match?.[1];
      if (path === undefined || path.split('/').some((part) => part === '..' || part === '.')) {
        throw new Error(
          `GRID_LOCAL_BINDS: ${item} is not of the form /directory:ro or /directory:rw`,
        );
      }
      if (path === '/tmp' || RESERVED.some((name) => isBelow(path, name))) {
        throw new Error(`GRID_LOCAL_BINDS: ${path} is the job's own or the system's`);
      }
      return { path, isWritable: match?.[2] === 'rw' };
    });
}

const RESERVED = '/proc /sys /dev /run /job /etc /usr /bin /lib /var/tmp'.split(' ');

/** Looks at the machine: what there is of the system, with `hidden` directories of the service left out. */
export function systemView(binds: readonly Bind[], own: readonly string[]): SystemView {
  const links = new Map<string, string>();
  const shown: string[] = [];
  for (const path of TREES) {
    const target = dirname(path) === '/' ? targetOf(path) : undefined;
    if (target !== undefined) links.set(path, target);
    else if (existsSync(path)) shown.push(path);
  }
  shown.push(...ETC.filter((path) => existsSync(path)));
  const present = binds.filter(({ path }) => existsSync(path));
  const roots = [...shown, ...present.map(({ path }) => path)];
  const hidden = own
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
    .filter((path) => roots.some((root) => isBelow(path, realpathSync(root))));
  return { shown, links, binds: present, hidden: [...new Set(hidden)] };
}

/** True when jobs can see the plain file that a path of the machine leads to. */
export function isShown(view: SystemView, path: string): boolean {
  if (!existsSync(path)) return false;
  const real = realpathSync(path);
  const roots = [...view.shown, ...view.binds.map((bind) => bind.path)].map((root) =>
    realpathSync(root),
  );
  const isIn = (directory: string): boolean => isBelow(real, directory);
  return roots.some(isIn) && !view.hidden.some(isIn);
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/** Where a link leads; undefined for what is none, or is not there. */
export function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

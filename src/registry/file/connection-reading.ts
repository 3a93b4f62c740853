import type { SiteConnection } from '../model/site-connection.js';
import type { DocumentNode } from './document-node.js';

const COMMON = ['user', 'workDirectory', 'remoteDirectory', 'timeout'] as const;
const OF_REST = ['url', 'tokenFile', 'keyFile'] as const;
const OF_SSH = ['ssh', 'port', 'identityFile', 'knownHostsFile', 'programs', 'configFile'] as const;
const MEMBERS = [...OF_REST, ...OF_SSH, ...COMMON] as const;
/** A name or an address, and no option. */
const HOST_FORM = /^[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$/;
const URL_FORM = /^(https?:\/\/[^/\s@?#]+\/?|unix:\/\S+)$/;
/** Neither an option, nor anything that a shell or a file of settings reads in its own way. */
const PATH_FORM = /^(\/[\w.+@-]+)+\/?$/;
const USER_FORM = /^[A-Za-z_][\w.-]{0,31}$/;
const NO_ACCOUNT = 'is no name of an account';
const MAX_TIMEOUT_SECONDS = 300;
const MAX_PORT = 65_535;

/** `connection` of a site; undefined when the file says nothing of it. */
export function readSiteConnection(
  place: DocumentNode,
  backend: string,
): SiteConnection | undefined {
  if (!place.isGiven) return undefined;
  if (backend !== 'slurm') place.fault('is for sites of the backend slurm only');
  const members = place.members(MEMBERS);
  const { user, workDirectory, remoteDirectory, timeout, ssh } = members;
  const wrong = ssh.isGiven ? OF_REST : OF_SSH;
  for (const name of wrong) {
    const way = ssh.isGiven ? 'is not for a connection by ssh' : 'is for a connection by ssh only';
    if (members[name].isGiven) members[name].fault(way);
  }
  return withoutUndefined({
    ...(ssh.isGiven ? readSsh(members) : readRest(members)),
    user: user.isGiven || ssh.isGiven ? textOf(user, USER_FORM, NO_ACCOUNT) : undefined,
    workDirectory: pathOf(workDirectory, true) ?? '',
    remoteDirectory: pathOf(remoteDirectory),
    timeout: timeout.optionalCount({ max: MAX_TIMEOUT_SECONDS }),
  });
}

type Members = Record<(typeof MEMBERS)[number], DocumentNode>;

function readRest({ url, tokenFile, keyFile }: Members) {
  if (tokenFile.isGiven && keyFile.isGiven) keyFile.fault('stands beside tokenFile: one of both');
  return {
    url: textOf(url, URL_FORM, 'is neither http://host:port nor unix:/path'),
    tokenFile: pathOf(tokenFile),
    keyFile: pathOf(keyFile),
  };
}

/** The account, its key and the keys of the machine must be said: there is no default that could be meant. */
function readSsh({ ssh, port, identityFile, knownHostsFile, programs, configFile }: Members) {
  return {
    ssh: textOf(ssh, HOST_FORM, 'is no name or address of a machine'),
    port: port.optionalCount({ max: MAX_PORT }),
    identityFile: pathOf(identityFile, true),
    knownHostsFile: pathOf(knownHostsFile, true),
    programs: pathOf(programs),
    configFile: pathOf(configFile),
  };
}

/** An absolute path; undefined when nothing is said and nothing must be. */
function pathOf(place: DocumentNode, isNeeded = false): string | undefined {
  if (!place.isGiven && !isNeeded) return undefined;
  const problem = 'is no absolute path of letters, digits and . _ + @ -';
  const path = textOf(place, PATH_FORM, problem);
  if (path?.split('/').some((part) => part === '..' || part === '.')) place.fault(problem);
  return path;
}

function textOf(place: DocumentNode, form: RegExp, problem: string): string {
  const text = place.text();
  if (text !== '' && !form.test(text)) place.fault(problem);
  return text;
}

function withoutUndefined<T extends object>(item: T): T {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as T;
}

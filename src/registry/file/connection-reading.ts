import type { SiteConnection } from '../model/site-connection.js';
import type { DocumentNode } from './document-node.js';

const MEMBERS = ['url', 'tokenFile', 'keyFile', 'user', 'workDirectory', 'timeout'] as const;
const URL_FORM = /^(https?:\/\/[^/\s@?#]+\/?|unix:\/\S+)$/;
/** Neither an option, nor anything that a shell or a file of settings reads in its own way. */
const PATH_FORM = /^(\/[\w.+@-]+)+\/?$/;
const USER_FORM = /^[A-Za-z_][\w.-]{0,31}$/;
const MAX_TIMEOUT_SECONDS = 300;

/** `connection` of a site; undefined when the file says nothing of it. */
export function readSiteConnection(
  place: DocumentNode,
  backend: string,
): SiteConnection | undefined {
  if (!place.isGiven) return undefined;
  if (backend !== 'slurm') place.fault('is for sites of the backend slurm only');
  const { url, tokenFile, keyFile, user, workDirectory, timeout } = place.members(MEMBERS);
  if (tokenFile.isGiven && keyFile.isGiven) keyFile.fault('stands beside tokenFile: one of both');
  return withoutUndefined({
    url: textOf(url, URL_FORM, 'is neither http://host:port nor unix:/path') ?? '',
    tokenFile: pathOf(tokenFile),
    keyFile: pathOf(keyFile),
    user: user.isGiven ? textOf(user, USER_FORM, 'is no name of an account') : undefined,
    workDirectory: pathOf(workDirectory, true) ?? '',
    timeout: timeout.optionalCount({ max: MAX_TIMEOUT_SECONDS }),
  });
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

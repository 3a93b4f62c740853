import { bindArguments, isPlainObject, type Operation } from '../message/arguments.js';
import { isEmpty } from '../message/body.js';
import type { MergeOptions, RequestOptions } from '../message/types.js';

/** The verbs of a session. */
export type Verb = 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The names that the options of a request may have. */
export const REQUEST_KEYWORDS: ReadonlySet<string> = new Set([
  ...['headers', 'params', 'data', 'json', 'files', 'auth', 'cookies', 'hooks'],
  ...['timeout', 'allow_redirects', 'proxies', 'stream', 'verify', 'cert'],
  ...['signal', 'max_response_bytes', 'deadline', 'use_netrc'],
]);

const CONTENT: Partial<Record<Verb, Operation['parameters']>> = {
  POST: [{ name: 'data' }, { name: 'json' }],
  PUT: [{ name: 'data' }],
  PATCH: [{ name: 'data' }],
};

/** The options of `request`; throws TypeError for what is none and for names that no option has. */
export function requestOptions(
  given: readonly unknown[],
  keywords: ReadonlySet<string>,
): RequestOptions {
  return bindArguments({ name: 'request', parameters: [], keywords }, given);
}

/** The options of a verb, its content among them; throws TypeError for an argument that would not be sent. */
export function verbOptions(
  verb: Verb,
  given: readonly unknown[],
  keywords: ReadonlySet<string>,
): RequestOptions {
  const parameters = CONTENT[verb] ?? [];
  const options: RequestOptions = bindArguments(
    { name: verb.toLowerCase(), parameters, keywords },
    given,
  );
  const [, json] = given;
  if (json && options.json === json && !isEmpty(options.data)) {
    throw new TypeError('post: json is not sent beside data');
  }
  if (verb === 'HEAD') options.allow_redirects ??= false;
  return options;
}

/** The parameters of `merge_environment_settings` by their names. */
export function mergeOptions(given: readonly unknown[]): MergeOptions {
  return bindArguments(
    {
      name: 'merge_environment_settings',
      parameters: [
        { name: 'proxies', accepts: isPlainObject },
        { name: 'stream', accepts: (value) => typeof value === 'boolean' },
        { name: 'verify', accepts: (value) => ['boolean', 'string'].includes(typeof value) },
        { name: 'cert', accepts: (value) => typeof value === 'string' || Array.isArray(value) },
      ],
      keywords: new Set(),
    },
    given,
  );
}

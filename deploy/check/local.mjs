/**
 * The shipped configurations as they run on one machine without privileges: other port, directory and instances, and as many
 * open files as the machine has; everything else to the letter. Tests start the load balancers from the same text.
 */

/** A shipped nginx configuration with its files below `directory` (tls/ in it), listening on 127.0.0.1:port. */
export function localNginx(text, { directory, port, instances }) {
  return replaceAll(text, [
    ['pid /run/nginx.pid;', `pid ${directory}/nginx.pid;\ndaemon off;\n${asRoot()}`],
    ['\nhttp {\n', `\nhttp {\n${temporaryPaths(directory)}`],
    ['/var/log/nginx/', `${directory}/`],
    ['/etc/gridgate/tls/', `${directory}/tls/`],
    ['listen 443', `listen 127.0.0.1:${port}`],
    ...instances.map((address, i) => [`gridgate-${i + 1}:8443`, address]),
  ]);
}

/** A shipped HAProxy configuration likewise. */
export function localHaproxy(text, { directory, port, instances }) {
  return replaceAll(text, [
    ['\nglobal\n', '\nglobal\n    no strict-limits\n'],
    ['/etc/gridgate/tls/', `${directory}/tls/`],
    ['bind :443', `bind 127.0.0.1:${port}`],
    ...instances.map((address, i) => [`gridgate-${i + 1}:8443`, address]),
  ]);
}

/** Without privileges nginx cannot make its usual temporary directories. */
function temporaryPaths(directory) {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return kinds.map((kind) => `${kind}_temp_path ${directory}/${kind};\n`).join('');
}

/** nginx drops root for an account that cannot read a private temporary directory: stay who we are. */
function asRoot() {
  return process.getuid?.() === 0 ? 'user root;' : '';
}

const ABSENT_IN_PASSTHROUGH = new Set(['/etc/gridgate/tls/', '\nhttp {\n']);

function replaceAll(text, pairs) {
  return pairs.reduce((result, [from, to]) => {
    if (!ABSENT_IN_PASSTHROUGH.has(from) && !result.includes(from))
      throw new Error(`the configuration has no ${from}`);
    return result.replaceAll(from, to);
  }, text);
}

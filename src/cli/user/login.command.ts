import { resolve } from 'node:path';
import { Command } from 'commander';
import { CommandError } from '../command-error.js';
import { say, show } from '../output.js';
import { GridConnection, guarded } from './grid-connection.js';
import { loginPath, readLogin, removeLogin, writeLogin } from './login-file.js';
import { tokenByCertificate, tokenByDevice, type SignIn } from './sign-in.js';

interface LoginOptions {
  server: string;
  ca?: string;
  cert?: string;
  key?: string;
  group?: string;
  setup?: string;
}

/** `login`, `logout`, `whoami`. */
export function loginCommands(): Command[] {
  const login = new Command('login')
    .description('sign in: in a browser (device flow), or with --cert by certificate')
    .requiredOption('--server <url>', 'base URL of the service', process.env['GRID_SERVER'])
    .option('--ca <file>', 'CA file of the server')
    .option('--cert <file>', 'certificate of the user (PEM)')
    .option('--key <file>', 'key of the certificate (PEM)')
    .option('--group <name>', 'group of the token (with --cert)')
    .option('--setup <name>', 'setup of the token (with --cert)')
    .action(signIn);
  const logout = new Command('logout')
    .description('revoke the token and forget it')
    .action(async () => {
      const path = loginPath(process.env);
      const grid = await GridConnection.open();
      await grid.revoke();
      await grid.close();
      await removeLogin(path);
      say('logged out');
    });
  const whoami = new Command('whoami')
    .description('who the token says you are')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const login = await readLogin(loginPath(process.env));
      const seen = claimsOf(String(login.token['access_token'] ?? ''));
      const value = { server: login.server, ...seen };
      show(options.json, value, () =>
        Object.entries(value).map(([key, text]) => `${key}: ${String(text)}`),
      );
    });
  return [login, logout, whoami];
}

async function signIn(options: LoginOptions): Promise<void> {
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new CommandError('--cert and --key belong together', 2);
  }
  if (!URL.canParse(options.server)) throw new CommandError(`${options.server} is not a URL`, 2);
  const to: SignIn = {
    server: options.server.replace(/\/+$/, ''),
    ...(options.ca !== undefined && { ca: resolve(options.ca) }),
    ...(options.cert !== undefined &&
      options.key !== undefined && {
        cert: [resolve(options.cert), resolve(options.key)] as [string, string],
      }),
    ...(options.group !== undefined && { group: options.group }),
    ...(options.setup !== undefined && { setup: options.setup }),
  };
  const token = await guarded(() =>
    to.cert ? tokenByCertificate(to) : tokenByDevice(to, (line) => say(line)),
  );
  await writeLogin(loginPath(process.env), { ...to, token });
  const { user, group, setup } = claimsOf(String(token['access_token'] ?? ''));
  say(`logged in to ${to.server} as ${user}, group ${group}, setup ${setup}`);
}

/** What an access token of the service says; it is the server that checks it. */
function claimsOf(token: string): Record<string, string> {
  try {
    const text = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    const claims = JSON.parse(text) as Record<string, string | number>;
    return {
      user: String(claims['sub']),
      group: String(claims['group']),
      setup: String(claims['setup']),
      scope: String(claims['scope']),
      expires: new Date(Number(claims['exp']) * 1000).toISOString(),
    };
  } catch {
    throw new CommandError('the stored token cannot be read: log in again', 4);
  }
}

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { CommandError } from '../terminal/command-error.js';
import { say, tell } from '../terminal/output.js';
import { jsonOption, outputOption, show, type Printing } from '../terminal/output-format.js';
import { loginPath, readLogin, removeLogin, writeLogin } from './login-file.js';
import type { SignIn } from './sign-in.js';
import { claimsOf } from './token-claims.js';
import { withConnection } from './with-connection.js';

interface LoginOptions extends Printing {
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
    .option('--group <name>', 'group of the token; in a browser it is proposed')
    .option('--setup <name>', 'setup of the token; in a browser it is proposed')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(signIn);
  const logout = new Command('logout')
    .description('revoke the token and forget it')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: Printing) => {
      const [server, revoked] = await withConnection(
        async (grid) => [grid.server, await grid.revoke()] as const,
      );
      await removeLogin(loginPath(process.env));
      if (!revoked) {
        const text = `warning: ${server} has not revoked the token; it stays valid until it expires`;
        tell(text);
      }
      await show(options, { server, revoked }, () => ['logged out']);
    });
  const whoami = new Command('whoami')
    .description('who the token says you are')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: Printing) => {
      const login = await readLogin(loginPath(process.env));
      const seen = claimsOf(String(login.token.access_token ?? ''));
      const value = { server: login.server, ...seen };
      await show(options, value, () =>
        Object.entries(value).map(([key, text]) => `${key}: ${String(text)}`),
      );
    });
  return [login, logout, whoami];
}

async function signIn(options: LoginOptions): Promise<void> {
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new CommandError('--cert and --key belong together', 2);
  }
  if (!/^https?:\/\/./.test(options.server) || !URL.canParse(options.server)) {
    const text = `${options.server} is no address such as https://grid.example.org`;
    throw new CommandError(text, 2);
  }
  for (const file of [options.ca, options.cert, options.key]) {
    if (file !== undefined && !existsSync(file)) throw new CommandError(`no such file: ${file}`, 2);
  }
  const to: SignIn = {
    server: options.server.replace(/(?<!\/)\/+$/, ''),
    ...(options.ca !== undefined && { ca: resolve(options.ca) }),
    ...(options.cert !== undefined &&
      options.key !== undefined && {
        cert: [resolve(options.cert), resolve(options.key)] as [string, string],
      }),
    ...(options.group !== undefined && { group: options.group }),
    ...(options.setup !== undefined && { setup: options.setup }),
  };
  const { tokenByCertificate, tokenByDevice } = await import('./sign-in.js');
  // with --json standard output is for the result alone
  const instruct = options.json ? tell : say;
  const token = to.cert ? await tokenByCertificate(to) : await tokenByDevice(to, instruct);
  const claims = claimsOf(String(token.access_token ?? ''));
  await writeLogin(loginPath(process.env), { ...to, token });
  await show(options, { server: to.server, ...claims }, () => [
    `logged in to ${to.server} as ${claims.user}, group ${claims.group}, setup ${claims.setup}`,
  ]);
}

import { text as wholeText } from 'node:stream/consumers';
import { Command } from 'commander';
import { stringifyJson } from '#src/kernel/index.js';
import type { IntrospectionResponse, TokenResponse } from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { jsonOption, outputOption, show, type Printing } from '../terminal/output-format.js';
import { emit } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';
import { loginPath, readLogin } from './login-file.js';
import { COMMAND_CLIENT } from './sign-in.js';
import { claimsOf } from './token-claims.js';
import { withConnection } from './with-connection.js';
import { collect, durationText } from './words.js';

interface ExchangeOptions extends Printing {
  scope?: string;
  audience: string[];
  group?: string;
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** `token show|print|exchange|introspect|revoke`. */
export function tokenCommand(): Command {
  return new Command('token')
    .description('the token of the login: what it is good for, for curl, narrower ones')
    .addCommand(showCommand(), { isDefault: true })
    .addCommand(printCommand())
    .addCommand(exchangeCommand())
    .addCommand(introspectCommand())
    .addCommand(revokeCommand());
}

function showCommand(): Command {
  return new Command('show')
    .description('whose it is, what it may do and how long; not the token itself')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: Printing) => {
      const login = await readLogin(loginPath(process.env));
      const claims = claimsOf(String(login.token.access_token ?? ''));
      const left = (Date.parse(claims.expires) - Date.now()) / 1000;
      const renews = login.cert !== undefined || typeof login.token.refresh_token === 'string';
      const value = { server: login.server, ...claims, renewable: renews };
      await show(
        options,
        value,
        () => [
          `${claims.user}, group ${claims.group}, setup ${claims.setup}, at ${login.server}`,
          `scope: ${claims.scope}`,
          left > 0
            ? `ends in ${durationText(left)} (${claims.expires})`
            : `ended ${claims.expires}`,
          renews ? 'is renewed by itself' : 'is not renewed: log in again when it has ended',
        ],
        [claims.user],
      );
    });
}

function printCommand(): Command {
  return new Command('print')
    .description(
      'the access token, renewed where it is about to end, for programs: curl -H "Authorization: Bearer $(gridgate token print)"',
    )
    .action(() => withConnection(async (grid) => emit(await grid.accessToken())));
}

function exchangeCommand(): Command {
  return new Command('exchange')
    .description('print a narrower token, which dies with this one (RFC 8693)')
    .option('--scope <words>', 'what it may do: "jobs:read"; all that this one may when left out')
    .option('--audience <service>', 'service that it is for; may be repeated', collect, [])
    .option('--group <name>', 'group of the token')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((options: ExchangeOptions) =>
      withConnection(async (grid) => {
        const made = await exchanged(grid, options);
        await show(options, made, () => [made.access_token], [made.access_token]);
      }),
    );
}

async function exchanged(
  grid: GridConnection,
  { scope, audience, group }: ExchangeOptions,
): Promise<TokenResponse> {
  return grid.client.postToken({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: await grid.accessToken(),
    subject_token_type: ACCESS_TOKEN,
    client_id: COMMAND_CLIENT,
    ...(scope !== undefined && { scope }),
    ...(audience.length > 0 && { audience }),
    ...(group !== undefined && { group }),
  });
}

function introspectCommand(): Command {
  return new Command('introspect')
    .description('what the service says of a token; of your own when none is given')
    .argument('[token]', 'the token; - for standard input, where no list of processes shows it')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((word: string | undefined, options: Printing) =>
      withConnection(async (grid) => {
        const told = await grid.client.introspectToken(
          word === undefined
            ? { token: await grid.accessToken() }
            : { token: await given(word), client_id: COMMAND_CLIENT },
        );
        await show(
          options,
          told,
          () => linesOf(told),
          told.username === undefined ? [] : [told.username],
        );
        if (!told.active)
          throw new CommandError('the token is dead, unknown, or not yours to ask about');
      }),
    );
}

function linesOf(told: IntrospectionResponse): string[] {
  const times = new Set(['exp', 'iat', 'nbf']);
  return Object.entries(told).map(([name, value]: [string, unknown]) => {
    if (times.has(name)) return `${name}: ${new Date(Number(value) * 1000).toISOString()}`;
    return `${name}: ${typeof value === 'string' ? value : stringifyJson(value)}`;
  });
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('revoke a token of yours; `gridgate logout` revokes that of the login')
    .argument('<token>', 'the token; - for standard input')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((word: string, options: Printing) =>
      withConnection(async (grid) => {
        const token = await given(word);
        const answer = await grid.client.revokeToken({ token, client_id: COMMAND_CLIENT });
        await show(options, answer, () => ['revoked']);
      }),
    );
}

async function given(word: string): Promise<string> {
  const token = word === '-' ? (await wholeText(process.stdin)).trim() : word;
  if (token === '') throw new CommandError('standard input holds no token', 2);
  return token;
}

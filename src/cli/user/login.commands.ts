import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as wholeText } from 'node:stream/consumers';
import type { Command } from 'commander';
import { command, group, type OptionsOf } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import {
  fieldsOf,
  isForPrograms,
  listOf,
  thing,
  type Printing,
} from '../terminal/output-format.js';
import { durationText, emit, say, tell } from '../terminal/output.js';
import { given } from '../terminal/reading.js';
import {
  COMMAND_CLIENT,
  currentProfile,
  loginPath,
  profileNames,
  readLogin,
  removeLogin,
  writeLogin,
  type Login,
} from './login-file.js';
import type { SignIn } from './sign-in.js';
import { claimsOf, type ShownClaims } from './token-claims.js';
import { onGrid, withConnection } from './on-grid.js';

const LOGIN_OPTIONS = [
  [
    '--server <url>',
    'base URL of the service',
    { required: true, default: process.env['GRID_SERVER'] },
  ],
  ['--ca <file>', 'CA file of the server'],
  ['--cert <file>', 'certificate of the user (PEM)'],
  ['--key <file>', 'key of the certificate (PEM)'],
  ['--group <name>', 'group of the token; in a browser it is proposed'],
  ['--setup <name>', 'setup of the token; in a browser it is proposed'],
] as const;

const tokenCommands = group(
  'token',
  'what the token of the login is good for; narrower ones',
  [
    command('show', 'whose it is, what it may do and how long; not the token itself', {
      show: async () => {
        const { server, claims, renewable } = await seen(loginPath(process.env));
        const { user, group: of, setup, scope, expires } = claims;
        const left = (Date.parse(expires) - Date.now()) / 1000;
        return {
          value: { server, ...claims, renewable },
          lines: [
            `${user}, group ${of}, setup ${setup}, at ${server}`,
            `scope: ${scope}`,
            left > 0 ? `ends in ${durationText(left)} (${expires})` : `ended ${expires}`,
            renewable ? 'is renewed by itself' : 'is not renewed: log in again when it has ended',
          ],
          names: [user],
        };
      },
    }),
    onGrid(
      'print',
      'the access token, renewed where it is about to end, for programs such as curl',
      {
        run: async (grid) => emit(await grid.accessToken()),
      },
    ),
    onGrid('exchange', 'print a narrower token, which dies with this one (RFC 8693)', {
      options: [
        ['--scope <words>', 'what it may do: "jobs:read"; all that this one may when left out'],
        ['--audience <service>', 'service that it is for', { repeated: true }],
        ['--group <name>', 'group of the token'],
      ],
      show: async (grid, { scope, audience, group: of }) => {
        const made = await grid.client.postToken({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: await grid.accessToken(),
          subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          client_id: COMMAND_CLIENT,
          ...given({ scope, group: of }),
          ...(audience.length > 0 && { audience }),
        });
        const { access_token: token } = made;
        return { value: made, lines: [token], names: [token] };
      },
    }),
    onGrid('introspect', 'what the service says of a token; of your own when none is given', {
      args: [['[token]', 'the token; - for standard input, where no list of processes shows it']],
      show: async (grid, word) => {
        const told = await grid.client.introspectToken(
          word === undefined
            ? { token: await grid.accessToken() }
            : { token: await tokenOf(word), client_id: COMMAND_CLIENT },
        );
        const lines = fieldsOf(told).map((line) =>
          line.replace(/(?<=^(?:exp|iat|nbf): )\d+$/, (seconds) =>
            new Date(Number(seconds) * 1000).toISOString(),
          ),
        );
        const names = told.username === undefined ? [] : [told.username];
        const dead = new CommandError('the token is dead, unknown, or not yours to ask about');
        return { value: told, lines, names, fault: !told.active && dead };
      },
    }),
    onGrid('revoke', 'revoke a token of yours; `gridgate logout` revokes that of the login', {
      args: [['<token>', 'the token; - for standard input']],
      show: async ({ client }, word) => {
        const token = await tokenOf(word);
        const value = await client.revokeToken({ token, client_id: COMMAND_CLIENT });
        return { value, lines: ['revoked'] };
      },
    }),
  ],
  'show',
);

const one = async (profile: string): Promise<ShownProfile> => {
  const { server, claims, renewable } = await seen(
    loginPath({ ...process.env, GRIDGATE_PROFILE: profile }),
  );
  return { profile, server, ...claims, renewable };
};
const profileCommands = group('profile', 'the logins to servers that are kept here', [
  command('list', 'all logins that are kept here', {
    show: async () => {
      const names = await profileNames(process.env);
      const profiles = await Promise.all(
        names.map((profile) =>
          one(profile).catch((error: unknown): Unreadable => {
            return { profile, fault: (error as Error).message };
          }),
        ),
      );
      return listOf<Partial<ShownProfile> & Partial<Unreadable>>({ profiles }, profiles, {
        PROFILE: 'profile',
        SERVER: 'server',
        USER: 'user',
        GROUP: 'group',
        SETUP: 'setup',
        EXPIRES: 'expires',
        FAULT: 'fault',
      });
    },
  }),
  command('show', 'one login', {
    args: [['[name]', 'name of the profile; the one in use when left out']],
    show: async (_, name) => {
      const profile = await one(name ?? currentProfile(process.env));
      return thing(profile, [profile.profile]);
    },
  }),
]);

/** `login`, `logout`, `whoami`, `token …`, `profile …`. */
export const loginCommands: Command[] = [
  command('login', 'sign in in a browser, or with --cert by certificate', {
    options: LOGIN_OPTIONS,
    show: async (_, options) => {
      const to = signInOf(options);
      const { tokenByCertificate, tokenByDevice } = await import('./sign-in.js');
      // where programs read, standard output is for the result alone
      const instruct = isForPrograms(options) ? tell : say;
      const token = to.cert ? await tokenByCertificate(to) : await tokenByDevice(to, instruct);
      const claims = claimsOf(String(token.access_token ?? ''));
      await writeLogin(loginPath(process.env), { ...to, token });
      const { user, group: of, setup } = claims;
      const line = `logged in to ${to.server} as ${user}, group ${of}, setup ${setup}`;
      return { value: { server: to.server, ...claims }, lines: [line] };
    },
  }),
  command('logout', 'revoke the token and forget it', {
    show: async () => {
      const [server, revoked] = await withConnection(
        async (grid) => [grid.server, await grid.revoke()] as const,
      );
      await removeLogin(loginPath(process.env));
      const warning = `warning: ${server} has not revoked the token; it stays valid until it expires`;
      if (!revoked) tell(warning);
      return { value: { server, revoked }, lines: ['logged out'] };
    },
  }),
  command('whoami', 'who the token says you are', {
    show: async () => {
      const { server, claims } = await seen(loginPath(process.env));
      return thing({ server, ...claims });
    },
  }),
  tokenCommands,
  profileCommands,
];

/** The login that is kept there, and what its token says. */
async function seen(path: string): Promise<Login & { claims: ShownClaims; renewable: boolean }> {
  const login = await readLogin(path);
  const { cert, token } = login;
  const renewable = cert !== undefined || typeof token.refresh_token === 'string';
  return { ...login, claims: claimsOf(String(token.access_token ?? '')), renewable };
}

function signInOf(options: OptionsOf<typeof LOGIN_OPTIONS> & Printing): SignIn {
  const { server, ca, cert, key, group: of, setup } = options;
  if ((cert === undefined) !== (key === undefined)) {
    throw new CommandError('--cert and --key belong together', 2, 'give both, or none of them');
  }
  if (!/^https?:\/\/./.test(server) || !URL.canParse(server)) {
    throw new CommandError(
      `${server} is no address`,
      2,
      'give one such as https://grid.example.org',
    );
  }
  for (const file of [ca, cert, key]) {
    if (file !== undefined && !existsSync(file)) throw new CommandError(`no such file: ${file}`, 2);
  }
  const isByCertificate = cert !== undefined && key !== undefined;
  return {
    server: server.replace(/(?<!\/)\/+$/, ''),
    ...(ca !== undefined && { ca: resolve(ca) }),
    ...(isByCertificate && { cert: [resolve(cert), resolve(key)] as [string, string] }),
    ...given({ group: of, setup }),
  };
}

async function tokenOf(word: string): Promise<string> {
  const token = word === '-' ? (await wholeText(process.stdin)).trim() : word;
  if (token === '') throw new CommandError('standard input holds no token', 2);
  return token;
}

type ShownProfile = ShownClaims & { profile: string; server: string; renewable: boolean };
interface Unreadable {
  profile: string;
  fault: string;
}

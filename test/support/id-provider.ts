import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Session, type Response } from '#src/http-client/index.js';
import type { TestPki } from './id-provider-pki.js';

/** Where the tests' logins come back to; nothing listens there. */
export const CALLBACK = 'https://portal.example/callback';

/** A running OpenID provider. */
export interface TestIdProvider {
  issuer: string;
  mtlsOrigin: string;
  stop(): Promise<void>;
}

/** What may be asked of the provider beside its defaults. */
export interface TestIdProviderOptions {
  clients?: readonly object[];
  redirectUris?: readonly string[];
  accessTokenSeconds?: number;
  port?: number;
}

const SERVER = fileURLToPath(new URL('./id-provider-server.mjs', import.meta.url));

/** Starts oidc-provider as a process of its own, with the server certificate of the test's CA. */
export async function startIdProvider(
  pki: TestPki,
  options: TestIdProviderOptions = {},
): Promise<TestIdProvider> {
  const settings = {
    cert: pki.server.certPath,
    key: pki.server.keyPath,
    ca: pki.ca.certPath,
    ...options,
  };
  const child = spawn(process.execPath, ['--no-warnings', SERVER, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    if (!line.startsWith('{')) continue;
    const { issuer, mtlsOrigin } = JSON.parse(line) as { issuer: string; mtlsOrigin: string };
    const exited = once(child, 'exit');
    return {
      issuer,
      mtlsOrigin,
      stop: async () => {
        child.kill('SIGTERM');
        await exited;
      },
    };
  }
  throw new Error(`the identity provider did not start: ${complaints}`);
}

const FORM = /<form[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/;
const INPUT = /<input[^>]*>/g;
const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];

/** The answer to the page's form: hidden fields as they are, the user's name and any password. */
function filledForm(html: string, user: string): { action: string; data: Record<string, string> } {
  const [, action = '', inner = ''] = FORM.exec(html) ?? [];
  const data: Record<string, string> = {};
  for (const [tag] of inner.matchAll(INPUT)) {
    const name = attribute(tag, 'name');
    if (name !== undefined) data[name] = attribute(tag, 'value') ?? '';
  }
  if ('login' in data) Object.assign(data, { login: user, password: 'any' });
  return { action, data };
}

/**
 * Does what a user with a browser does: opens the URL, signs in, agrees. Answers the URL that the browser is sent back
 * to, or the last page when there is none. With `deny` the user turns back at the first page.
 */
export async function browse(
  ca: string,
  url: string,
  options: { user?: string; deny?: boolean; redirectUri?: string } = {},
): Promise<{ location?: string; page?: string }> {
  const { user = 'jane', deny = false, redirectUri = CALLBACK } = options;
  const browser = new Session({ verify: ca, trust_env: false });
  try {
    let response: Response = await browser.get(url, { allow_redirects: false });
    for (let step = 0; step < 20; step += 1) {
      const location = browser.get_redirect_target(response);
      if (location !== null) {
        const next = new URL(location, response.url).href;
        if (next.startsWith(redirectUri)) return { location: next };
        response = await browser.get(next, { allow_redirects: false });
      } else if (FORM.test(response.text)) {
        const { action, data } = filledForm(response.text, user);
        const target = new URL(action.replaceAll('&amp;', '&'), response.url).href;
        response = deny
          ? await browser.get(`${target}/abort`, { allow_redirects: false })
          : await browser.post(target, { data, allow_redirects: false });
      } else {
        return { page: response.text };
      }
    }
    throw new Error('the login does not come to an end');
  } finally {
    await browser.close();
  }
}

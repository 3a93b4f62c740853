import { fileURLToPath } from 'node:url';
import type { INestApplication } from '@nestjs/common';
import { DEMO_COOKIE } from '../auth/index.js';
import { constantTimeEqual } from '../kernel/index.js';
import type { Config } from '#src/config/index.js';
import { hasAddress, RegistryService } from '#src/registry/index.js';
import { serveStaticSite, type HttpRequest, type HttpResponse } from '#src/http/index.js';

const PATH = '/portal';
/** Where the build puts examples/portal. */
const DIRECTORY = fileURLToPath(new URL('../../portal', import.meta.url));

/**
 * Serves the portal where it is wanted, as it is beside the demo data. It signs in as the built-in application `portal`.
 * Browsers that come to the bare address are sent there, or to the description of the interface; programs get the 404 as
 * everywhere.
 */
export function servePortal(
  app: INestApplication,
  { publicUrl, servePortal: isServed, demoSignIn }: Config,
): boolean {
  sendBrowsersTo(app, isServed ? `${PATH}/` : '/docs');
  if (!isServed) return false;
  if (demoSignIn !== undefined) welcome(app, demoSignIn);
  return serveStaticSite(app, {
    path: PATH,
    directory: DIRECTORY,
    connectTo: async () => [new URL(publicUrl).origin, ...(await originsOfS3(app))],
    documents: {
      'config.json': {
        url: publicUrl,
        clientId: 'portal',
        redirectUri: `${publicUrl}${PATH}/`,
      },
    },
  });
}

/** Where browsers write files to by signed addresses. */
async function originsOfS3(app: INestApplication): Promise<string[]> {
  const registry = await app
    .get(RegistryService)
    .current()
    .catch(() => undefined); // the page itself needs no database
  const elements = registry?.storageElements().filter(hasAddress) ?? [];
  const stores = elements.filter(({ kind }) => kind === 's3');
  return [...new Set(stores.map(({ url }) => new URL(url).origin))];
}

/** The link that the demo prints: the browser that opens it may go on as one of the users of the demo. */
function welcome(app: INestApplication, key: string): void {
  app.use((request: HttpRequest, response: HttpResponse, next: () => void) => {
    const [, shown] = /^\/portal\/demo\/([\w-]+)$/.exec(request.path) ?? [];
    if (shown === undefined || request.method !== 'GET' || !constantTimeEqual(shown, key)) {
      next();
      return;
    }
    response.setHeader('Cache-Control', 'no-store');
    const rules = 'Path=/; Secure; HttpOnly; SameSite=Lax';
    response.setHeader('Set-Cookie', `${DEMO_COOKIE}=${key}; ${rules}`);
    response.redirect(303, `${PATH}/`);
  });
}

function sendBrowsersTo(app: INestApplication, place: string): void {
  app.use((request: HttpRequest, response: HttpResponse, next: () => void) => {
    if (request.path !== '/' || request.method !== 'GET') next();
    else if (/\btext\/html\b/.test(request.headers.accept ?? '')) response.redirect(303, place);
    else next();
  });
}

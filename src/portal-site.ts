import { fileURLToPath } from 'node:url';
import type { INestApplication } from '@nestjs/common';
import { serveStaticSite, type Config } from './platform/index.js';

const PATH = '/portal';
/** Where the build puts examples/portal. */
const DIRECTORY = fileURLToPath(new URL('../portal', import.meta.url));

/** Serves the example portal beside the demo data. It signs in as the built-in application `portal`. */
export function servePortal(app: INestApplication, { publicUrl, loadDemo }: Config): boolean {
  if (!loadDemo) return false;
  return serveStaticSite(app, {
    path: PATH,
    directory: DIRECTORY,
    connectTo: [new URL(publicUrl).origin],
    documents: {
      'config.json': {
        url: publicUrl,
        clientId: 'portal',
        redirectUri: `${publicUrl}${PATH}/`,
      },
    },
  });
}

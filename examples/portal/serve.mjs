/**
 * Serves the built portal on http://localhost:8900 against any Gridgate: an origin of its own, like a portal of yours.
 *   GRID_URL   base URL of the service, default https://localhost:8443
 *   PORT       default 8900
 *   CLIENT_ID  default demo-portal, whose redirect URI is http://localhost:8900/callback
 */
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../dist/portal', import.meta.url));
const port = Number(process.env.PORT ?? 8900);
const url = (process.env.GRID_URL ?? 'https://localhost:8443').replace(/(?<!\/)\/+$/, '');
const clientId = process.env.CLIENT_ID ?? 'demo-portal';
const config = { url, clientId, redirectUri: `http://localhost:${port}/callback` };
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

if (!existsSync(join(folder, 'index.html'))) {
  process.stderr.write('dist/portal is missing: run npm run build first\n');
  process.exit(1);
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cache-Control', 'no-cache');
  if (pathname === '/config.json') {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(config));
    return;
  }
  const name = pathname === '/' || pathname === '/callback' ? '/index.html' : pathname;
  const file = normalize(join(folder, name));
  const type = TYPES[extname(file)];
  if (!file.startsWith(folder + sep) || type === undefined || !existsSync(file)) {
    response.statusCode = 404;
    response.end('not found\n');
    return;
  }
  response.setHeader('Content-Type', type);
  createReadStream(file).pipe(response);
});
server.listen(port, 'localhost', () => {
  process.stdout.write(`portal on http://localhost:${port} against ${url}\n`);
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
}

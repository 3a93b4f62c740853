import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { RequestHandler } from 'express';
import { Asset, isRead, wantsCoded } from './asset.js';

/** Kinds of text that sites of static files have. */
const TEXT_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};
/** Smaller files are not worth a coding. */
const LEAST_BYTES = 1_024;
/** Names that change with the content, such as `main.3f9a1c0d.js`. */
const HASHED = /[.-](?=[a-z]*\d)[\da-f]{8,64}\.\w+$/;
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * Hands out the compressed forms of a folder's texts to who takes them, before the handler that hands out the files.
 * The names are read at the start, so that nothing else can be asked for.
 */
export function compressedFiles(
  directory: string,
  { without = [] }: { without?: readonly string[] } = {},
): RequestHandler {
  const assets = assetsOf(directory);
  for (const name of without) assets.delete(name);
  return (request, response, next) => {
    const name = nameOf(request.path, request.originalUrl);
    const asset = isRead(request) ? assets.get(name) : undefined;
    if (HASHED.test(name)) response.setHeader('Cache-Control', FOR_EVER);
    if (!asset) {
      next();
      return;
    }
    response.vary('Accept-Encoding');
    if (wantsCoded(request)) asset.send(request, response).catch(next);
    else next();
  };
}

function assetsOf(directory: string): Map<string, Asset> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const assets = names.flatMap((name): [string, Asset][] => {
    const path = join(directory, name);
    const type = TEXT_TYPES[extname(name)];
    if (type === undefined || /(^|\/)\./.test(name) || !isLarge(path)) return [];
    return [[name, new Asset(type, () => readFile(path))]];
  });
  return new Map(assets);
}

function isLarge(path: string): boolean {
  const stats = statSync(path);
  return stats.isFile() && stats.size >= LEAST_BYTES;
}

/** The folder itself is its index page, but only with the slash at the end, without which its links lead elsewhere. */
function nameOf(path: string, originalUrl: string): string {
  if (path !== '/') return path.slice(1);
  return originalUrl.split('?')[0]?.endsWith('/') ? 'index.html' : '';
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import express, { type RequestHandler } from 'express';
import { compressedFiles } from './compressed-files.js';

/** A site of static files below a path of the service. */
export interface StaticSite {
  /** Path without slash at the end. */
  path: string;
  /** Folder with index.html. */
  directory: string;
  /** Origins beside its own that its scripts may call, as they are now. */
  connectTo: () => Promise<readonly string[]>;
  /** Documents made for this installation: name → JSON. */
  documents: Record<string, object>;
}

/** Serves the site when its folder is there. False when it is not, for example in a build without it. */
export function serveStaticSite(app: INestApplication, site: StaticSite): boolean {
  const index = join(site.directory, 'index.html');
  if (!existsSync(index)) return false;
  app.use(site.path, headers(site), documents(site.documents), compressedFiles(site.directory));
  app.use(
    site.path,
    express.static(site.directory, { cacheControl: false, dotfiles: 'ignore', etag: true }),
  );
  return true;
}

/**
 * Only the site's own files: no inline script, no forms, nothing turned from text into script. The only frames are documents
 * whose whole content is in their address: such a document has no origin, so nothing in it has the site's rights.
 */
export function contentPolicy(connectTo: readonly string[]): string {
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src 'self' data:`,
    `frame-src data:`,
    `connect-src ${["'self'", ...connectTo].join(' ')}`,
    `form-action 'none'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
    `require-trusted-types-for 'script'`,
  ].join('; ');
}

function headers({ connectTo }: StaticSite): RequestHandler {
  return async (_request, response, next) => {
    response.setHeader('Content-Security-Policy', contentPolicy(await connectTo()));
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cache-Control', 'no-cache'); // kept, but asked after each time
    next();
  };
}

function documents(byName: Record<string, object>): RequestHandler {
  return (request, response, next) => {
    const name = request.path.slice(1);
    if (request.method !== 'GET' || !Object.hasOwn(byName, name)) {
      next();
      return;
    }
    response.setHeader('Cache-Control', 'no-store');
    response.json(byName[name]);
  };
}

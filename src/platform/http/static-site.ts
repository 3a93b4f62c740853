import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
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
  /** Origins beside its own that its scripts may call. */
  connectTo: readonly string[];
  /** Documents made for this installation: name → JSON. */
  documents: Record<string, object>;
}

/** Serves the site when its folder is there. False when it is not, for example in a build without it. */
export function serveStaticSite(app: INestApplication, site: StaticSite): boolean {
  const index = join(site.directory, 'index.html');
  if (!existsSync(index)) return false;
  const policy = contentPolicy(readFileSync(index, 'utf8'), site.connectTo);
  app.use(site.path, headers(policy), documents(site.documents), compressedFiles(site.directory));
  app.use(
    site.path,
    express.static(site.directory, { cacheControl: false, dotfiles: 'ignore', etag: true }),
  );
  return true;
}

/**
 * Only the site's own files: no inline script but those that the index page carries (an import map has no other
 * place), no frames, no forms, nothing turned from text into script.
 */
export function contentPolicy(index: string, connectTo: readonly string[]): string {
  const inline = [...index.matchAll(/<script type="importmap">([^<]*)<\/script>/g)];
  const hashes = inline.map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  return [
    `default-src 'none'`,
    `script-src ${["'self'", ...hashes].join(' ')}`,
    `style-src 'self'`,
    `img-src 'self' data:`,
    `connect-src ${["'self'", ...connectTo].join(' ')}`,
    `form-action 'none'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
    `require-trusted-types-for 'script'`,
  ].join('; ');
}

function headers(policy: string): RequestHandler {
  return (_request, response, next) => {
    response.setHeader('Content-Security-Policy', policy);
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

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const SRC = resolve('src');

/** Room → rooms it may import through their door. */
const MAY_IMPORT: Record<string, string[]> = {
  kernel: [],
  'http-client': ['kernel'],
  'oauth2-client': ['http-client', 'kernel'],
  'id-provider': ['oauth2-client', 'http-client', 'kernel', 'registry', 'platform'],
  platform: ['kernel'],
  registry: ['platform', 'kernel'],
  auth: ['id-provider', 'registry', 'platform', 'kernel'],
  jobs: ['auth', 'registry', 'platform', 'kernel'],
  'file-catalogue': ['auth', 'registry', 'platform', 'kernel'],
  client: [],
  migrations: [],
};

/** Sub-rooms of jobs that run them → sub-rooms they may import; places never each other. */
const MAY_IMPORT_IN_JOBS: Record<string, string[]> = {
  run: [],
  'places/local': ['run'],
  'places/slurm': ['run'],
  matching: ['run'],
};

const LIBRARY_ROOMS = ['kernel', 'http-client', 'oauth2-client', 'id-provider'];
const SERVER_FRAMEWORKS = /^(@nestjs\/|typeorm|pg$|pg-|express$|passport|prom-client|pino)/;

/** The part of id-provider that is bound to Nest, and the door that shows it to other rooms. */
const NEST_PART = /^id-provider\/(module\/|index\.ts$)/;

/** Frameworks a room may use beside Node itself and those that every server room may use. */
const LIBRARY_PACKAGES: Record<string, RegExp> = {
  kernel: /^lossless-json$/,
  'http-client': /^(undici|tough-cookie)$/,
  'oauth2-client': /^jose$/,
  'id-provider': /^jose$/,
};

interface Import {
  file: string;
  target: string;
}

function sources(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) return sources(path);
    return /\.ts$/.test(name) && !/\.spec\.ts$/.test(name) ? [path] : [];
  });
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s+['"]([^'"]+)['"]|(?:^|\n)\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
  );
  return [...found].map((match) => ({ file, target: match[1] ?? match[2] ?? match[3] ?? '' }));
}

function roomOf(path: string): string | undefined {
  const parts = relative(SRC, path).split('/');
  if (parts.length === 1) return undefined; // entry points and composition root
  return parts[0];
}

/** The sub-room of jobs; undefined for other files. */
function subRoomOf(path: string): string | undefined {
  const within = relative(join(SRC, 'jobs'), path);
  return Object.keys(MAY_IMPORT_IN_JOBS).find((room) => within.startsWith(`${room}/`));
}

function resolved(one: Import): string | undefined {
  if (one.target.startsWith('#src/')) return join(SRC, one.target.slice('#src/'.length));
  if (one.target.startsWith('.')) return resolve(dirname(one.file), one.target);
  return undefined;
}

const all = sources(SRC).flatMap(importsOf);
const inRooms = all.filter((one) => (roomOf(one.file) ?? 'cli') !== 'cli');

describe('rooms', () => {
  it('sees the imports of the tree', () => {
    expect(all.length).toBeGreaterThan(100);
    expect(inRooms.some((one) => one.target.startsWith('#src/kernel/'))).toBe(true);
  });

  it('knows every room', () => {
    const rooms = new Set(
      sources(SRC)
        .map(roomOf)
        .filter((room) => room !== undefined),
    );
    const known = new Set([...Object.keys(MAY_IMPORT), 'cli']);
    expect([...rooms].filter((room) => !known.has(room))).toEqual([]);
  });

  it('have arrows downwards only', () => {
    const wrong = inRooms.filter((one) => {
      const path = resolved(one);
      const from = roomOf(one.file) ?? '';
      const to = path === undefined ? undefined : roomOf(path);
      if (path === undefined || to === from) return false;
      return to === undefined || !(MAY_IMPORT[from] ?? []).includes(to);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('of jobs have arrows downwards only', () => {
    const wrong = inRooms.filter((one) => {
      const path = resolved(one);
      const own = subRoomOf(one.file);
      const other = path === undefined ? undefined : subRoomOf(path);
      if (own === undefined || other === undefined || own === other) return false;
      return !(MAY_IMPORT_IN_JOBS[own] ?? []).includes(other);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('are entered through their door', () => {
    const wrong = inRooms.filter((one) => {
      const path = resolved(one);
      if (path === undefined || roomOf(path) === roomOf(one.file)) return false;
      return !/\/index\.js$/.test(path);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('do not use their own door', () => {
    const wrong = inRooms.filter(
      (one) => one.target.startsWith('#src/') && roomOf(resolved(one) ?? '') === roomOf(one.file),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('of the library know no server framework', () => {
    const wrong = inRooms.filter((one) => {
      const room = roomOf(one.file) ?? '';
      if (!LIBRARY_ROOMS.includes(room) || NEST_PART.test(relative(SRC, one.file))) return false;
      const path = resolved(one);
      if (path !== undefined) {
        return [/^platform\//, /^registry\//, NEST_PART].some((part) =>
          part.test(relative(SRC, path)),
        );
      }
      if (one.target.startsWith('node:')) return false;
      return !(LIBRARY_PACKAGES[room] ?? /^$/).test(one.target);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('let browsers load the client: it imports nothing but itself', () => {
    const own = all.filter((one) => roomOf(one.file) === 'client');
    const wrong = own.filter((one) => roomOf(resolved(one) ?? '') !== 'client');
    expect(own.length).toBeGreaterThan(5);
    expect(wrong.map(show)).toEqual([]);
  });

  it('leave express to platform/http', () => {
    const wrong = all.filter(
      (one) => one.target === 'express' && !one.file.startsWith(join(SRC, 'platform/http')),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('keep SQL in repositories, migrations and platform/database', () => {
    const sql =
      /[`']\s*(select\s[^`']*\sfrom\s|insert into\s|update\s+\w+\s+set\s|delete from\s|with\s+\w+\s+as\s)/i;
    const wrong = sources(SRC).filter((file) => {
      const path = relative(SRC, file);
      if (/\.repository\.ts$|^migrations\/|^platform\/|\.sql\.ts$/.test(path)) return false;
      return sql.test(readFileSync(file, 'utf8'));
    });
    expect(wrong.map((file) => relative(SRC, file))).toEqual([]);
  });

  it('read the environment in one place', () => {
    const wrong = sources(SRC).filter(
      (file) =>
        /process\.env\b/.test(readFileSync(file, 'utf8')) &&
        !/(main|env|environment|netrc)\.ts$|^cli\//.test(relative(SRC, file)),
    );
    expect(wrong.map((file) => relative(SRC, file))).toEqual([]);
  });

  it('let the package root be used without Nest and database', () => {
    const seen = new Set<string>();
    const wrong: string[] = [];
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const one of importsOf(file)) {
        if (/^import type|^export type/.test(one.target)) continue;
        const path = resolved(one)?.replace(/\.js$/, '.ts');
        if (path !== undefined) visit(path);
        else if (SERVER_FRAMEWORKS.test(one.target)) wrong.push(show(one));
      }
    };
    visit(join(SRC, 'grid.ts'));
    expect(seen.size).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
  });
});

function show(one: Import): string {
  return `${relative(SRC, one.file)} → ${one.target}`;
}

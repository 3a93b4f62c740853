import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  circlesOf,
  fileGraph,
  folderGraph,
  importsOf,
  resolved,
  show,
  sources,
  SRC,
} from './source-tree.js';

/** What every module of the server may import. */
const SERVER = ['audit', 'events', 'http', 'runtime', 'database', 'config', 'kernel'];

/** Module → modules it may import through their entry point. */
const MAY_IMPORT: Record<string, string[]> = {
  kernel: [],
  'http-client': ['kernel'],
  'oauth2-client': ['http-client', 'kernel'],
  x509: ['kernel'],
  config: ['kernel'],
  database: ['config', 'kernel'],
  runtime: ['database', 'config', 'kernel'],
  http: ['runtime', 'database', 'config', 'x509', 'kernel'],
  events: ['http', 'runtime', 'database', 'config', 'kernel'],
  audit: ['http', 'runtime', 'database', 'config', 'kernel'],
  'embedded-postgres': ['runtime', 'database', 'config', 'kernel'],
  registry: ['audit', 'http', 'runtime', 'database', 'config', 'x509', 'kernel'],
  'id-provider': ['oauth2-client', 'http-client', 'registry', ...SERVER],
  auth: ['id-provider', 'registry', 'x509', ...SERVER],
  jobs: ['auth', 'registry', ...SERVER],
  'file-catalogue': ['storage-client', 'auth', 'registry', ...SERVER],
  'storage-client': ['http-client', 'kernel'],
  worker: [
    ...['jobs', 'storage-client', 'oauth2-client', 'http-client', 'registry', 'runtime', 'config'],
    'kernel',
  ],
  webhooks: ['file-catalogue', 'jobs', 'auth', 'registry', ...SERVER],
  administration: ['jobs', 'auth', 'registry', ...SERVER],
  client: ['kernel'],
  migrations: [],
};

/** What the client has of the kernel: the entry point loads modules of Node as well, which browsers have not. */
const EXACT_JSON = join(SRC, 'kernel/json.js');

const SIGN_IN = ['sign-in/providers', 'sign-in/sessions', 'sign-in/pages'];

/**
 * Module → its folders → the folders each may import. A folder never imports what stands in the module itself: that is
 * the entry point and the module, which know all of them. Places never import each other.
 */
const FOLDERS: Record<string, Record<string, string[]>> = {
  'http-client': { message: [], transport: ['message'], session: ['transport', 'message'] },
  'id-provider': {
    claims: [],
    verify: [],
    flows: [],
    provider: ['claims', 'verify', 'flows'],
    module: ['provider', 'claims', 'verify', 'flows'],
  },
  x509: {
    certificate: [],
    'signing-rights': ['certificate'],
    trust: ['signing-rights', 'certificate'],
    issuing: ['certificate'],
  },
  registry: {
    model: [],
    entities: ['model'],
    store: ['entities', 'model'],
    file: ['store', 'model'],
  },
  auth: {
    protocol: [],
    keys: [],
    possession: ['keys', 'protocol'],
    clients: ['possession', 'protocol'],
    stores: ['protocol'],
    bearer: ['stores', 'clients', 'possession', 'keys', 'protocol'],
    access: ['bearer', 'clients', 'possession', 'protocol'],
    'sign-in/pages': ['access', 'protocol'],
    'sign-in/sessions': ['sign-in/demo', 'access', 'protocol'],
    'sign-in/demo': [],
    'sign-in/providers': [
      'sign-in/demo',
      'sign-in/sessions',
      'sign-in/pages',
      'access',
      'protocol',
    ],
    'token/grants': ['access', 'bearer', 'stores', 'clients', 'possession', 'protocol'],
    token: ['token/grants', 'access', 'possession', 'protocol'],
    authorize: [...SIGN_IN, 'access', 'bearer', 'stores', 'clients', 'possession', 'protocol'],
    device: [...SIGN_IN, 'access', 'stores', 'clients', 'protocol'],
    consents: [...SIGN_IN, 'access', 'stores', 'clients', 'protocol'],
    openid: [...SIGN_IN, 'access', 'bearer', 'stores', 'clients', 'protocol'],
    inspect: ['access', 'bearer', 'stores', 'clients', 'possession', 'protocol'],
    metadata: ['token', 'access', 'possession', 'keys', 'protocol'],
  },
  'file-catalogue': {
    openapi: [],
    path: [],
    statements: [],
    answer: [],
    names: [],
    access: ['names', 'path'],
    events: ['access', 'path'],
    tree: [],
    metadata: ['tree', 'path'],
    namespace: ['metadata', 'access', 'names', 'answer', 'path', 'openapi'],
    totals: ['path', 'statements'],
    matching: ['totals', 'metadata', 'access', 'path', 'statements'],
    search: ['matching', 'totals', 'metadata', 'access', 'answer', 'path', 'statements', 'openapi'],
    'compatible-values': [
      'matching',
      'metadata',
      'access',
      'answer',
      'path',
      'statements',
      'openapi',
    ],
    writing: ['events', 'metadata', 'access', 'names', 'path', 'statements'],
    changes: ['writing', 'namespace', 'metadata', 'access', 'path', 'openapi'],
    moves: ['events', 'namespace', 'access', 'path', 'statements', 'writing'],
    feed: ['events', 'namespace', 'access', 'path'],
    exchange: ['writing', 'totals', 'namespace', 'metadata', 'access', 'names', 'answer', 'path'],
    lookup: ['exchange', 'namespace', 'access', 'names', 'answer', 'path'],
    demo: ['writing', 'namespace', 'access'],
    storage: ['changes', 'writing', 'namespace', 'access', 'names', 'path'],
  },
  jobs: {
    manifest: [],
    state: ['manifest'],
    limits: [],
    access: ['state'],
    dependencies: ['access', 'state', 'manifest'],
    sandbox: ['access', 'state', 'manifest'],
    run: ['sandbox', 'state', 'manifest'],
    'places/slurm': ['run', 'sandbox', 'state', 'manifest'],
    matching: ['run', 'limits', 'state', 'manifest'],
    arrays: ['limits', 'access', 'state'],
    submit: [
      ...['arrays', 'dependencies', 'workers', 'run', 'sandbox', 'limits', 'access', 'state'],
      'manifest',
    ],
    list: ['access', 'state'],
    usage: ['run', 'access', 'state'],
    feed: ['list', 'access', 'state'],
    control: ['limits', 'access', 'state'],
    insight: ['dependencies', 'matching', 'run', 'limits', 'access', 'state', 'manifest'],
    output: ['matching', 'run', 'sandbox', 'access', 'state', 'manifest'],
    workers: ['matching', 'run', 'sandbox', 'state', 'manifest'],
    housekeeping: ['matching', 'submit', 'list', 'run', 'sandbox', 'state'],
  },
  worker: {
    watch: [],
    isolation: ['watch'],
    runs: ['isolation', 'watch'],
    exchange: ['runs', 'isolation', 'watch'],
    own: ['exchange', 'runs', 'isolation'],
  },
  webhooks: {
    signature: [],
    target: [],
    store: [],
    sources: ['store'],
    delivery: ['sources', 'store', 'target', 'signature'],
    management: ['delivery', 'sources', 'store', 'target', 'signature'],
  },
  administration: {
    access: [],
    answer: [],
    registry: [],
    members: ['answer', 'registry'],
    applications: ['answer'],
    keys: ['answer'],
    sites: ['answer', 'registry'],
    audit: [],
    workers: ['answer'],
  },
};

const LIBRARY_MODULES = ['kernel', 'http-client', 'oauth2-client', 'id-provider'];
const SERVER_FRAMEWORKS = /^(@nestjs\/|typeorm|pg$|pg-|express$|passport|prom-client|pino)/;

/** The part of id-provider that is bound to Nest, and the entry point that shows it to other modules. */
const NEST_PART = /^id-provider\/(module\/|index\.ts$)/;

/** Frameworks a module may use beside Node itself and those that every server module may use. */
const LIBRARY_PACKAGES: Record<string, RegExp> = {
  'http-client': /^(undici|tough-cookie)$/,
  'oauth2-client': /^jose$/,
  'id-provider': /^jose$/,
};

function moduleOf(path: string): string | undefined {
  const parts = relative(SRC, path).split('/');
  if (parts.length === 1) return undefined; // entry points and composition root
  return parts[0];
}

/** The folder of a file, by the longest name that fits; undefined for files of no folder. */
function subModuleOf(path: string): string | undefined {
  const [module = '', ...within] = relative(SRC, path).split('/');
  return Object.keys(FOLDERS[module] ?? {})
    .filter((name) => `${within.join('/')}/`.startsWith(`${name}/`))
    .sort((one, other) => other.length - one.length)[0];
}

const all = sources(SRC).flatMap(importsOf);
/** Entry points, which may use every entry point, and the composition root. */
const ENTRIES = ['app', 'cli'];
const inModules = all.filter((one) => !ENTRIES.includes(moduleOf(one.file) ?? 'app'));

describe('modules', () => {
  it('sees the imports of the tree', () => {
    expect(all.length).toBeGreaterThan(100);
    expect(inModules.some((one) => one.target.startsWith('#src/kernel/'))).toBe(true);
  });

  it('knows every module', () => {
    const modules = new Set(
      sources(SRC)
        .map(moduleOf)
        .filter((module) => module !== undefined),
    );
    const known = new Set([...Object.keys(MAY_IMPORT), ...ENTRIES]);
    expect([...modules].filter((module) => !known.has(module))).toEqual([]);
  });

  it('have arrows downwards only', () => {
    const wrong = inModules.filter((one) => {
      const path = resolved(one);
      const from = moduleOf(one.file) ?? '';
      const to = path === undefined ? undefined : moduleOf(path);
      if (path === undefined || to === from) return false;
      return to === undefined || !(MAY_IMPORT[from] ?? []).includes(to);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('have no folder that the table does not know', () => {
    const unknown = sources(SRC).filter((path) => {
      const [module = '', ...within] = relative(SRC, path).split('/');
      const isIn = FOLDERS[module] && within.length > 1 && within[0] !== 'testing';
      return isIn && subModuleOf(path) === undefined;
    });
    expect([...new Set(unknown.map((path) => relative(SRC, dirname(path))))]).toEqual([]);
  });

  it('have folders with arrows downwards only', () => {
    const wrong = inModules.filter((one) => {
      const path = resolved(one);
      const own = subModuleOf(one.file);
      const other = path === undefined ? undefined : subModuleOf(path);
      if (own === undefined || path === undefined || own === other) return false;
      const module = moduleOf(one.file) ?? '';
      if (moduleOf(path) !== module) return false;
      return other !== undefined && !(FOLDERS[module]?.[own] ?? []).includes(other);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it.each([
    ['folders', folderGraph],
    ['files', fileGraph],
  ] as const)('have no circle of %s', (_, graph) => {
    expect(circlesOf(graph())).toEqual([]);
  });

  it('are entered through their entry point', () => {
    const wrong = inModules.filter((one) => {
      const path = resolved(one);
      if (path === undefined || moduleOf(path) === moduleOf(one.file)) return false;
      if (moduleOf(one.file) === 'client' && path === EXACT_JSON) return false;
      return !path.endsWith('/index.js');
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('do not use their own entry point', () => {
    const wrong = inModules.filter(
      (one) =>
        one.target.startsWith('#src/') && moduleOf(resolved(one) ?? '') === moduleOf(one.file),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('of the library know no server framework', () => {
    const wrong = inModules.filter((one) => {
      const module = moduleOf(one.file) ?? '';
      if (!LIBRARY_MODULES.includes(module) || NEST_PART.test(relative(SRC, one.file)))
        return false;
      const path = resolved(one);
      if (path !== undefined) {
        return [/^(audit|config|database|events|http|runtime|registry)\//, NEST_PART].some((part) =>
          part.test(relative(SRC, path)),
        );
      }
      if (one.target.startsWith('node:')) return false;
      return !(LIBRARY_PACKAGES[module] ?? /^$/).test(one.target);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('let browsers load the client: it imports nothing but itself and the exact JSON of the kernel', () => {
    const exact = all.filter((one) => /kernel\/json(-fault)?\.ts$/.test(one.file));
    const own = all.filter((one) => moduleOf(one.file) === 'client');
    const wrong = own.filter((one) => {
      const path = resolved(one) ?? '';
      return moduleOf(path) !== 'client' && path !== EXACT_JSON;
    });
    expect(own.length).toBeGreaterThan(5);
    expect(wrong.map(show)).toEqual([]);
    expect(exact.map(show)).toEqual(['kernel/json.ts → ./json-fault.js']);
  });

  it('leave express to http', () => {
    const wrong = all.filter(
      (one) => one.target === 'express' && !one.file.startsWith(join(SRC, 'http/')),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('keep SQL in repositories, migrations and database', () => {
    const sql =
      /[`']\s*(select\s[^`']*\sfrom\s|insert into\s|update\s+\w+\s+set\s|delete from\s|with\s+\w+\s+as\s)/i;
    const wrong = sources(SRC).filter((file) => {
      const path = relative(SRC, file);
      if (/\.repository\.ts$|^migrations\/|^database\/|^embedded-postgres\/|\.sql\.ts$/.test(path))
        return false;
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

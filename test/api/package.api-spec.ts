import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { support } from '../support/testbed.js';

/** What the library needs at run time; neither Nest nor a database is among it. */
const LIBRARY_PACKAGES = ['jose', 'tough-cookie', 'undici'];

const USE = `
const provider = new OAuth2IdProvider({ ProviderName: 'x', issuer: 'https://idp.example.org', client_id: 'a' });
const parsed = claimParser({ id: 'ab:cd' }, { id: '^(?P<x>\\\\w+):(?P<y>\\\\w+)$' });
console.log(JSON.stringify([S_OK(1), parsed, typeof provider.submitNewSession, new Session().max_redirects]));
`;
const SEEN = '[{"OK":true,"Value":1},{"id":{"x":"ab","y":"cd"}},"function",30]\n';
const NAMES = 'OAuth2IdProvider, claimParser, S_OK, Session';

let project: string;

beforeAll(() => {
  const { root } = support();
  project = mkdtempSync(join(tmpdir(), 'grid-package-'));
  const packed = execFileSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', project],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('['))) as [{ filename: string }];
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, 'gridgate'), { recursive: true });
  execFileSync('tar', [
    'xzf',
    join(project, filename),
    '--strip-components=1',
    '-C',
    join(modules, 'gridgate'),
  ]);
  for (const name of LIBRARY_PACKAGES) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  mkdirSync(join(modules, '@types'));
  symlinkSync(join(root, 'node_modules/@types/node'), join(modules, '@types/node'));
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function node(file: string, text: string): string {
  writeFileSync(join(project, file), text);
  return execFileSync(process.execPath, ['--no-warnings', file], {
    cwd: project,
    encoding: 'utf8',
  });
}

describe('the packed library, without Nest and without a database', () => {
  it('is used by a plain JavaScript module', () => {
    expect(node('use.mjs', `import { ${NAMES} } from 'gridgate';${USE}`)).toBe(SEEN);
  });

  it('is used by require()', () => {
    expect(node('use.cjs', `const { ${NAMES} } = require('gridgate');${USE}`)).toBe(SEEN);
  });

  it('has exact types for a plain TypeScript project', () => {
    const wrong = `import { OAuth2IdProvider, type Result } from 'gridgate';
const provider = new OAuth2IdProvider({ issuer: 'https://idp.example.org', client_id: 'a' });
export const url: Promise<Result<string>> = provider.submitNewSession();
// @ts-expect-error a group is a text
export const groups = provider.getGroupScopes(7);
`;
    writeFileSync(join(project, 'use.ts'), wrong);
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2022',
          strict: true,
          noEmit: true,
          types: ['node'],
        },
        files: ['use.ts'],
      }),
    );
    const tsc = join(support().root, 'node_modules/typescript/bin/tsc');
    const check = (): string =>
      execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: project, encoding: 'utf8' });
    expect(check()).toBe('');
  });
});

import { existsSync, mkdirSync, mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { closeRunRoot } from './run-root.js';

it('keeps what a run that begins this moment needs, and goes when there is none', () => {
  const path = mkdtempSync(join(tmpdir(), 'gridgate-root-'));
  const root = { path, executorId: 'local:x' };
  mkdirSync(join(path, '7.1'));
  mkdirSync(join(path, 'etc'));
  writeFileSync(join(path, 'etc', 'passwd'), '');
  closeRunRoot(root);
  expect(existsSync(join(path, 'etc', 'passwd'))).toBe(true);
  rmdirSync(join(path, '7.1'));
  closeRunRoot(root);
  expect(existsSync(path)).toBe(false);
});

import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { root } from '../../scripts/run.mjs';

/** What the figures were measured on. */
export function machine() {
  return {
    date: new Date().toISOString(),
    cpus: os.cpus().length,
    cpu: os.cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()}`,
    node: process.version,
    loadBefore: os.loadavg()[0],
    revision: revision(),
  };
}

function revision() {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], options).trim();
  } catch {
    return undefined; // an installed package
  }
}

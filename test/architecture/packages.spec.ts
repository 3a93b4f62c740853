import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { minVersion, satisfies } from 'semver';

interface Locked {
  version?: string;
  resolved?: string;
  hasInstallScript?: boolean;
  engines?: { node?: string };
}

const own = JSON.parse(readFileSync('package.json', 'utf8')) as {
  engines: { node: string };
  allowScripts: Record<string, boolean>;
};
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, Locked>;
};

/** The first of each line that the service promises: `npm ci` warns of a package that wants a later one. */
const NODES = own.engines.node.split('||').map((line) => minVersion(line)?.version ?? '');

describe('the packages', () => {
  it.each(NODES)('run on Node %s, those for development, too', (node) => {
    const refused = Object.entries(packages)
      .filter(([, { engines }]) => !satisfies(node, engines?.node ?? '*'))
      .map(([path, { version, engines }]) => `${path}@${version} wants Node ${engines?.node}`);
    expect(refused).toEqual([]);
  });

  // By name alone: npm reads a version from an address, and the lock has none.
  it('are named, each that has an install script, as allowed to run it or not', () => {
    const scripted = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(Object.keys(own.allowScripts).sort()).toEqual([...new Set(scripted)].sort());
  });

  it('name no address from which they came', () => {
    const addressed = Object.entries(packages).filter(([, { resolved }]) =>
      /^\w+:/.test(resolved ?? ''),
    );
    expect(addressed).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { minVersion, subset } from 'semver';

interface Locked {
  version?: string;
  resolved?: string;
  dev?: boolean;
  engines?: { node?: string };
}

const own = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, Locked>;
};

describe('the packages of the service', () => {
  it('run on every Node that the service promises', () => {
    const promised = own.engines.node;
    const oldest = minVersion(promised)?.version ?? '';
    const newer = Object.entries(packages)
      .filter(([, { dev, engines }]) => !dev && engines?.node !== undefined)
      .filter(([, { engines }]) => !subset(oldest, engines?.node ?? '*'))
      .map(([path, { version, engines }]) => `${path}@${version} wants Node ${engines?.node}`);
    expect(newer).toEqual([]);
  });

  it('name no address from which they came', () => {
    const addressed = Object.entries(packages).filter(([, { resolved }]) =>
      /^\w+:/.test(resolved ?? ''),
    );
    expect(addressed).toEqual([]);
  });
});

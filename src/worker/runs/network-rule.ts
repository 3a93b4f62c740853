import { networkInterfaces } from 'node:os';
import type { Config } from '#src/config/index.js';
import { AddressList } from '#src/kernel/index.js';
import type { Site } from '#src/registry/index.js';

/** Addresses that every program with the machine's network can speak from. */
const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * A trusted proxy's address from which a job with the machine's network could speak: then it could say which certificate
 * its sender has shown, that of an administrator. Undefined when there is none.
 */
export function trustedOwnAddress(config: Pick<Config, 'trustedProxies'>): string | undefined {
  const proxies = AddressList.parse(config.trustedProxies);
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const addresses = [...LOOPBACK, ...own.map(({ address }) => address)];
  return addresses.find((address) => proxies.contains(address));
}

/** Throws Error when a site's jobs may use the machine's network while one of its addresses is a trusted proxy's. */
export function refuseTrustedNetwork(
  config: Pick<Config, 'trustedProxies' | 'allowLocalExecutor' | 'role'>,
  sites: readonly Site[],
): void {
  if (!config.allowLocalExecutor || config.role === 'api') return;
  const site = sites.find(
    ({ backend, network }) => backend === 'local-process' && network === 'host',
  );
  const address = site && trustedOwnAddress(config);
  if (address === undefined) return;
  throw new Error(
    `site ${site?.name}: its jobs have the machine's network (network: host), and GRID_TRUSTED_PROXIES believes ` +
      `${address}, from which they could speak; name other proxies, or give the site no network`,
  );
}

import type { Site } from '#src/registry/index.js';
import { refuseTrustedNetwork, trustedOwnAddress } from './network-rule.js';

describe('trustedOwnAddress', () => {
  it.each([
    [['127.0.0.1'], '127.0.0.1'],
    [['127.0.0.0/8', '203.0.113.7'], '127.0.0.1'],
    [['::1'], '::1'],
    [['0.0.0.0/0'], '127.0.0.1'],
    [['203.0.113.7'], undefined],
    [[], undefined],
  ])('of %j is %s', (trustedProxies, expected) => {
    expect(trustedOwnAddress({ trustedProxies })).toBe(expected);
  });
});

describe('refuseTrustedNetwork', () => {
  const site = (more: Partial<Site>): Site => ({
    name: 'LOCAL.a',
    backend: 'local-process',
    options: {},
    network: 'host',
    ...more,
  });
  const config = { trustedProxies: ['127.0.0.1'], allowLocalExecutor: true, role: 'all' as const };

  it('refuses a site with the network of the machine whose address is believed', () => {
    expect(() => refuseTrustedNetwork(config, [site({})])).toThrow(
      "site LOCAL.a: its jobs have the machine's network (network: host), and GRID_TRUSTED_PROXIES believes 127.0.0.1",
    );
  });

  it.each<[string, object, Partial<Site>]>([
    ['without network', {}, { network: 'none' }],
    ['that says nothing', {}, { network: undefined }],
    ['of a batch system', {}, { backend: 'slurm' }],
    ['where proxies are elsewhere', { trustedProxies: ['203.0.113.7'] }, {}],
    ['where no local jobs run', { allowLocalExecutor: false }, {}],
    ['of an instance that runs none', { role: 'api' }, {}],
  ])('takes a site %s', (_name, settings, more) => {
    expect(() => refuseTrustedNetwork({ ...config, ...settings }, [site(more)])).not.toThrow();
  });
});

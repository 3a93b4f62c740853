import type { INestApplicationContext } from '@nestjs/common';
import { readConfig, type Config } from '#src/config/index.js';
import { LOGGER } from '#src/runtime/index.js';
import { DEMO_REGISTRY, RegistryService, RegistrySnapshot, type Group } from '../registry/index.js';
import { prepareData } from './start-data.js';

const group = (name: string, vo?: string): Group => ({
  name,
  ...(vo !== undefined && { vo }),
  ...{ properties: new Set(['NormalUser'] as const), members: [], idpScopes: [] },
});

/** What a start warns of, with these groups. */
async function warnings(groups: Group[], change: Partial<Config>): Promise<unknown[]> {
  const told: unknown[] = [];
  const logger = { info: () => undefined, warn: (details: object) => void told.push(details) };
  const registry = new RegistrySnapshot({ ...DEMO_REGISTRY, groups }, 1);
  const parts = new Map<unknown, unknown>([
    [LOGGER, logger],
    [RegistryService, { current: () => Promise.resolve(registry) }],
  ]);
  const app = { get: (part: unknown) => parts.get(part) } as unknown as INestApplicationContext;
  await prepareData(app, { ...readConfig({}), loadDemo: false, ...change });
  return told;
}

describe('a start', () => {
  const several = [group('a', 'a'), group('free'), group('b', 'b')];
  const named = { groups: ['free'] };

  it.each<[string, Group[], Partial<Config>, object[]]>([
    ['groups of none beside several', several, {}, [named]],
    ['nothing beside one alone', several.slice(0, 2), { production: true, globalJobs: 'true' }, []],
    ['nothing where each has its own', [group('a', 'a'), group('b', 'b')], {}, []],
    [
      'borders that are open in production',
      several,
      { production: true, globalJobs: 'true' },
      [named, { settings: ['GRID_GLOBAL_JOBS'] }],
    ],
    ['no such borders outside of it', several, { globalJobs: 'true' }, [named]],
  ])('warns of virtual organisations: %s', async (_what, groups, change, expected) => {
    expect(await warnings(groups, change)).toEqual(expected);
  });
});

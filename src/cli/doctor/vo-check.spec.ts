import type { Config } from '#src/config/index.js';
import type { Group } from '../../registry/index.js';
import { checkBorders } from './vo-check.js';

const group = (name: string, vo?: string, properties: Group['properties'] = NORMAL): Group => ({
  name,
  ...(vo !== undefined && { vo }),
  ...{ properties, members: [], idpScopes: [] },
});
const NORMAL: Group['properties'] = new Set(['NormalUser']);
const OFFICE: Group['properties'] = new Set(['JobAdministrator']);
const config = { globalJobs: 'vo', catalogueGlobalRead: false } as unknown as Config;
const check = 'virtual organisations';
const good = { check, state: 'ok', text: 'every group of NormalUser has its own' };

describe('what doctor says of virtual organisations', () => {
  it.each([
    ['one', [group('a', 'a'), group('free')]],
    ['none', [group('free')]],
    ['several', [group('a', 'a'), group('b', 'b'), group('office', undefined, OFFICE)]],
  ])('is nothing with %s', (_how, groups) => {
    expect(checkBorders(config, groups)).toEqual(good);
  });

  it('names groups of NormalUser beside several', () => {
    const groups = [group('a', 'a'), group('free'), group('b', 'b'), group('loose')];
    expect(checkBorders(config, groups)).toEqual({
      ...{ check, state: 'warning' },
      text: 'beside several, the groups free, loose have NormalUser and belong to none',
      advice:
        'Give them a `vo`: what their members submit belongs to none, and with another property they see that of all',
    });
  });

  it('names settings that open the borders', () => {
    const open = { ...config, globalJobs: 'true' } as Config;
    expect(checkBorders(open, [group('a', 'a'), group('b', 'b')])).toEqual({
      ...{ check, state: 'warning' },
      text: 'GRID_GLOBAL_JOBS=true: users see what belongs to other virtual organisations',
      advice: 'Leave them out, or set them to `vo`',
    });
    expect(checkBorders(open, [group('a', 'a'), group('free')])).toEqual(good);
  });
});

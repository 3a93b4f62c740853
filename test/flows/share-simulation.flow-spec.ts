import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  GROUPS,
  OWNERS,
  POLICIES,
  Week,
  type Community,
  type Policy,
} from '../support/share-week.js';

const PAGE = 'docs/fair-shares.md';
const SEEDS = [7, 11, 23, 42];
const COMMUNITIES: [string, Community][] = [
  ['group', GROUPS],
  ['owner', OWNERS],
];
const NAMES: Record<Policy, string> = {
  shares: 'fair shares (`GRID_SHARES`, the default)',
  priority: 'priority, then age (`GRID_SHARES=false`)',
  'first-come': 'first come, first served',
  'fair-tree': "Slurm's multifactor priority (Fair Tree), a model",
};

const weeks = new Map<string, Week[]>();
const weeksOf = (what: string, community: Community, policy: Policy): Week[] => {
  const key = `${what} ${policy}`;
  const known = weeks.get(key) ?? SEEDS.map((seed) => new Week(community, policy, seed));
  weeks.set(key, known);
  return known;
};
const most = (all: readonly Week[], of: (week: Week) => number): number => Math.max(...all.map(of));

describe('weeks of bursts, on a clock that jumps', () => {
  it.each(COMMUNITIES)(
    'leave no %s behind for longer than it takes to catch up',
    (what, community) => {
      const shared = weeksOf(what, community, 'shares');
      for (const { places } of shared) expect(places).toBeGreaterThan(2_000);
      expect(most(shared, ({ worst }) => worst)).toBeLessThanOrEqual(1);
      for (const policy of ['priority', 'first-come'] as const) {
        expect(most(weeksOf(what, community, policy), ({ worst }) => worst)).toBeGreaterThan(1);
      }
    },
  );

  it('are told in docs/fair-shares.md', () => {
    const rows = COMMUNITIES.flatMap(([what, community]) =>
      POLICIES.map((policy) => rowOf(what, policy, weeksOf(what, community, policy))),
    );
    const before = readFileSync(PAGE, 'utf8');
    const [head = ''] = before.split(MARK);
    const page = `${head}${MARK}\n\n${table(rows)}`;
    if (process.env['GRID_WRITE_PAGES'] === 'true') writeFileSync(PAGE, page);
    expect(page).toBe(readFileSync(PAGE, 'utf8'));
  });
});

const MARK = '<!-- written by test/flows/share-simulation.flow-spec.ts -->';
const HEADING = [
  'Between',
  'Order',
  'Longest behind, hours',
  'of what catching up takes',
  'Mean wait of the worst off, hours',
  'Median wait, hours',
  'Jobs started',
];

function rowOf(what: string, policy: Policy, all: readonly Week[]): string[] {
  const told = (of: (week: Week) => number): string => most(all, of).toFixed(1);
  return [
    `${what}s`,
    NAMES[policy],
    told(({ behindHours }) => behindHours),
    told(({ worst }) => worst),
    told(({ longestMeanWait }) => longestMeanWait),
    told(({ medianWait }) => medianWait),
    String(all.reduce((sum, { places }) => sum + places, 0)),
  ];
}

function table(rows: string[][]): string {
  const widths = HEADING.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |\n`;
  return line(HEADING) + rule + rows.map(line).join('');
}

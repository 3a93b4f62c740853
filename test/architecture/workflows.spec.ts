import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

interface Workflow {
  on: Record<string, unknown>;
  permissions: unknown;
  jobs: Record<string, { 'timeout-minutes': number; steps: Step[] }>;
}

const read = (path: string): unknown => parse(readFileSync(path, 'utf8'));
const { scripts, engines } = read('package.json') as {
  scripts: Record<string, string>;
  engines: { node: string };
};
const ci = read('.github/workflows/ci.yml') as Workflow;
const mutation = read('.github/workflows/mutation.yml') as Workflow;
const nightly = read('.github/workflows/nightly.yml') as Workflow;
const stepsOf = (workflow: Workflow): Step[] => workflow.jobs['run']?.steps ?? [];

describe('.github', () => {
  it('runs .ci/run on every push and pull request, and the tests of tests once a week', () => {
    expect(ci.on).toEqual({ push: { branches: ['main'] }, pull_request: null });
    expect(stepsOf(ci).at(-1)?.run).toBe('.ci/run');
    expect(ci.jobs['run']?.['timeout-minutes']).toBe(90);
    expect(mutation.on).toEqual({
      schedule: [{ cron: '17 2 * * 0' }],
      workflow_dispatch: null,
    });
    expect(stepsOf(mutation).map(({ run }) => run)).toContain('npm run test:mutation');
    expect(scripts['test:mutation']).toBeDefined();
  });

  it('runs everything every night, as many parts as it counts', () => {
    const { strategy } = nightly.jobs['run'] as unknown as {
      strategy: { matrix: { shard: number[] } };
    };
    const { shard } = strategy.matrix;
    expect(shard).toEqual(shard.map((_, index) => index + 1));
    expect(stepsOf(nightly).at(-1)?.run).toBe(
      `npm run test:nightly -- --shard \${{ matrix.shard }}/${shard.length}`,
    );
    expect(scripts['test:nightly']).toBeDefined();
  });

  it.each([
    ['ci', ci],
    ['mutation', mutation],
    ['nightly', nightly],
  ])(
    'takes for %s the Node of package.json, actions by major version, and no rights',
    (_, workflow) => {
      const steps = stepsOf(workflow);
      const node = steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'));
      expect(engines.node).toMatch(/^\^\d/);
      expect(node?.with).toEqual({ 'node-version-file': 'package.json' });
      const actions = steps.flatMap(({ uses }) => uses ?? []);
      expect(actions.filter((name) => !/^actions\/[a-z-]+@v\d+$/.test(name))).toEqual([]);
      expect(workflow.permissions).toEqual({ contents: 'read' });
    },
  );

  it('has packages, actions and images looked at every week, grouped', () => {
    const { version, updates } = read('.github/dependabot.yml') as {
      version: number;
      updates: Record<string, unknown>[];
    };
    expect(version).toBe(2);
    expect(updates.map((update) => update['package-ecosystem'])).toEqual([
      'npm',
      'github-actions',
      'docker',
    ]);
    for (const update of updates) {
      expect(update).toMatchObject({ directory: '/', schedule: { interval: 'weekly' } });
      expect(Object.keys(update['groups'] as object)).toHaveLength(1);
    }
  });

  it.each([
    '.github/workflows/ci.yml',
    '.github/workflows/mutation.yml',
    '.github/workflows/nightly.yml',
    '.github/dependabot.yml',
  ])('names no registry: %s', (path) => {
    expect(readFileSync(path, 'utf8')).not.toMatch(/https?:|registry/);
  });
});

describe('stryker.config.mjs', () => {
  it('changes files that exist', () => {
    const files = readFileSync('stryker.config.mjs', 'utf8').match(/(?<=')src\/.*?(?=')/g) ?? [];
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
    expect(files.length).toBeGreaterThan(30);
  });
});

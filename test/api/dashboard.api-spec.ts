import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { startGrid, type Grid } from '../support/testbed.js';

/** Functions, keywords and labels of PromQL that look like names of metrics. */
const NAME = /\b(?:gridgate|nodejs|process)_[a-z0-9_]+/g;

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
  templating: { list: { query: unknown }[] };
}

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
}

function namesIn(text: string): string[] {
  return [...new Set(text.match(NAME) ?? [])].sort();
}

describe('deploy/grafana and deploy/prometheus', () => {
  let grid: Grid;
  let known: Set<string>;
  beforeAll(async () => {
    grid = await startGrid();
    await grid.as('alice');
    const { body } = await grid.anonymous.get<string>('/metrics');
    known = new Set(
      [...body.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
  });
  afterAll(() => grid?.remove());

  it('the dashboard asks only for metrics that a running server has', () => {
    const text = readFileSync('deploy/grafana/gridgate.json', 'utf8');
    const { panels } = JSON.parse(text) as Dashboard;
    expect(panels.length).toBeGreaterThan(10);
    for (const { title, targets } of panels) {
      const names = targets.flatMap(({ expr }) => namesIn(expr));
      expect([title, names.length > 0]).toEqual([title, true]);
    }
    expect(namesIn(text).filter((name) => !known.has(name))).toEqual([]);
  });

  it('so do the alerts, and each says what it is about', () => {
    const text = readFileSync('deploy/prometheus/alerts.yaml', 'utf8');
    const rules = (parse(text) as Rules).groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(5);
    expect(namesIn(text).filter((name) => !known.has(name))).toEqual([]);
    for (const { alert, annotations } of rules) {
      expect([alert, annotations.summary.length > 10]).toEqual([alert, true]);
    }
  });

  it('show every metric of the service', () => {
    const text = readFileSync('deploy/grafana/gridgate.json', 'utf8');
    const own = [...known].filter(
      (name) => name.startsWith('gridgate_') && !/_(sum|count)$/.test(name),
    );
    const shown = namesIn(text);
    const missing = own.filter((name) => !shown.some((one) => one.startsWith(name)));
    expect(missing.filter((name) => !name.endsWith('_bucket'))).toEqual([]);
  });
});

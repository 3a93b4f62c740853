/**
 * What a hundred times as many jobs cost: each question to two tables of one PostgreSQL, in turns, one request after the
 * other. The floor is the table with a hundredth of --jobs; pages have the same size in both.
 */
import { filledJobs, pathAfter } from './job-data/filled.mjs';

const PAGE = 'maxJobs=100';
/** There are few of them in the smaller table. */
const SHORT_PAGE = 'maxJobs=10';
const middle = ({ count }) => `startJob=${count / 2}`;

/** Name, and what is asked of a table of `count` jobs. */
const QUESTIONS = [
  ['own', () => `/jobs?${PAGE}`],
  ['own-status', () => `/jobs?${SHORT_PAGE}&status=Failed`],
  ['own-site', () => `/jobs?${PAGE}&site=LOCAL.spare`],
  ['own-name', ({ count }) => `/jobs?${PAGE}&name=name-${count / 2 + 3}`],
  ['own-usual-name', () => `/jobs?${PAGE}&name=usual`],
  ['own-status-site-name', () => `/jobs?${PAGE}&status=Done&site=LOCAL.demo&name=usual`],
  ['all', () => `/jobs?${PAGE}&allOwners=true`],
  ['all-rare-status', () => `/jobs?${SHORT_PAGE}&allOwners=true&status=Failed`],
  ['all-no-such-site', () => `/jobs?${PAGE}&allOwners=true&site=LOCAL.nowhere`],
  ['deep-all', (table) => `/jobs?${PAGE}&allOwners=true&${middle(table)}`],
  ['deep-own', ({ count }) => `/jobs?${PAGE}&startJob=${count / 4}`],
  ['deep-status', (table) => `/jobs?${PAGE}&allOwners=true&status=Done&${middle(table)}`],
  ['cursor', (table) => pathAfter(table, `/jobs?${PAGE}&allOwners=true&${middle(table)}`)],
  ['last-update', () => `/jobs?${PAGE}&fromDate=2026-01-01T00:00:00Z&toDate=2026-01-01T05:00:00Z`],
  ['sort-last-update', () => `/jobs?${PAGE}&sort=-lastUpdate`],
  ['summary', () => '/jobs/summary?allOwners=true'],
  ['summary-status-site', () => '/jobs/summary?group=status&group=site'],
];

export const figures = QUESTIONS.map(([name, pathOf]) => ({
  name: `job-growth.${name}`,
  title: `jobs: ${name.replaceAll('-', ' ')}`,
  unit: 'ms',
  better: 'lower',
  floor: 'the same from a hundredth of the jobs',
  async prepare(bench) {
    const count = Number(bench.options.jobs);
    const asks = async (table) => {
      const { server, token } = table;
      const path = await pathOf(table);
      return async (seconds) => {
        const { p50, p99 } = await bench.load({ server, path, token, seconds, connections: 1 });
        return { value: p50, p50, p99 };
      };
    };
    const large = await asks(await filledJobs(bench, count));
    return { figure: large, floor: await asks(await filledJobs(bench, count / 100)) };
  },
}));

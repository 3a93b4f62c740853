import type { Site } from '#src/registry/index.js';
import type { FreeMachine } from '../run/executor.js';
import type { Jid } from '../state/job.js';
import type { Shares } from './fair-share.js';
import { Match, type MatchInput } from './match.js';
import { byOrder, laneOf, type QueuedJob } from './queued-job.js';
import type { SiteUse } from './site-capacity.js';
import { keyOf } from './shape.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const EVERYTHING: FreeMachine = { processors: Infinity, ahead: 0, ramMB: Infinity };

const site = (name: string, more: Partial<Site> = {}): Site => ({
  name,
  backend: 'slurm',
  options: {},
  ...more,
});

let nextJid = 1n;
const shapes = new Map<string, bigint>();

const job = (more: Partial<QueuedJob> & { waited?: number } = {}): QueuedJob => {
  const { waited = 0, ...rest } = more;
  const wishes = {
    setup: 'Prod',
    vo: 'atlas',
    wantedSites: [],
    bannedSites: [],
    processors: 1,
    minRamMb: 0,
    maxRamMb: 0,
    gpus: 0,
    tags: [],
    wallTime: null,
    ...rest,
  };
  const key = keyOf(wishes);
  const shape = shapes.get(key) ?? BigInt(shapes.size);
  shapes.set(key, shape);
  const since = new Date(NOW - waited * 1000);
  const place = { jid: nextJid++, shape, priority: 1, lastUpdate: since };
  return { ...place, owner: 'alice', ownerGroup: 'atlas', ...wishes };
};

/** What a match gives to whom, as the repository asks it. */
const placed = (
  given: readonly QueuedJob[],
  more: Partial<MatchInput> & { used?: Record<string, Partial<SiteUse>> } = {},
): [Jid, string][] => {
  const { used = {}, ...input } = more;
  const jobs = [...given].sort(byOrder);
  const heads = [...new Map([...jobs].reverse().map((one) => [laneOf(one), one])).values()];
  const match = new Match({
    heads,
    sites: [site('A')],
    machine: EVERYTHING,
    limit: 100,
    now: NOW,
    reserveMs: 60_000,
    load: () => 0,
    ...input,
  });
  const nothing = { jobs: 0, processors: 0, ramMB: 0, gpus: 0 };
  match.note(new Map(Object.entries(used).map(([name, use]) => [name, { ...nothing, ...use }])));
  const pages = match.pages();
  const looked = pages.flatMap((page) =>
    jobs.filter((one) => laneOf(one) === laneOf(page)).slice(0, page.size),
  );
  return match.choose(looked, pages).map(({ job: { jid }, site: at }) => [jid, at]);
};

describe('Match', () => {
  it('gives places by priority, then by age', () => {
    const jobs = [job(), job({ processors: 2 }), job({ priority: 5 })];
    const [first, , urgent] = jobs.map(({ jid }) => jid);
    const sites = [site('A', { processors: 3 })];
    expect(placed(jobs, { sites })).toEqual([
      [urgent, 'A'],
      [first, 'A'],
    ]);
    expect(placed(jobs, { sites, limit: 1 })).toEqual([[urgent, 'A']]);
  });

  it.each<[string, Partial<Site>, Partial<QueuedJob>, Partial<SiteUse>]>([
    ['jobs', { slots: 2 }, {}, { jobs: 2 }],
    ['processors', { processors: 8 }, { processors: 4 }, { processors: 5 }],
    ['memory by MinRAM', { ramMB: 8000 }, { minRamMb: 4000 }, { ramMB: 4001 }],
    ['memory by MaxRAM', { ramMB: 8000 }, { minRamMb: 1, maxRamMb: 4000 }, { ramMB: 4001 }],
    ['all memory', { ramMB: 8000 }, { maxRamMb: 9000 }, { ramMB: 1 }],
    ['GPUs', { gpus: 2 }, { gpus: 1 }, { gpus: 2 }],
  ])('counts %s that are taken', (_what, has, wants, taken) => {
    const one = job(wants);
    const sites = [site('A', has)];
    expect(placed([one], { sites })).toEqual([[one.jid, 'A']]);
    expect(placed([one], { sites, used: { A: taken } })).toEqual([]);
  });

  it('gives no job with GPUs to a site that declares more than its machine has, and keeps nothing for it', () => {
    const sites = [site('A', { gpus: 2, slots: 1 }), site('B', { gpus: 1, slots: 1 })];
    const machine = { ...EVERYTHING, gpus: 1, mostGpus: 1 };
    const [old, late, plain] = [job({ gpus: 1, waited: 100 }), job({ gpus: 1 }), job()];
    expect(placed([old, late, plain], { sites, machine })).toEqual([
      [old.jid, 'B'],
      [plain.jid, 'A'],
    ]);
    const wanting = job({ gpus: 1, wantedSites: ['A'], waited: 100 });
    expect(placed([wanting, plain], { sites: sites.slice(0, 1), machine })).toEqual([
      [plain.jid, 'A'],
    ]);
  });

  it.each<[string, Partial<QueuedJob>, string[]]>([
    ['wants one', { wantedSites: ['B'] }, ['B']],
    ['bans one', { bannedSites: ['A'] }, ['B']],
    ['is of another setup', { setup: 'Test' }, ['B']],
    ['is of another virtual organisation', { vo: 'cms' }, ['B']],
    ['is of no virtual organisation', { vo: '' }, ['B']],
    ['is of the second one of a site', { vo: 'lhcb' }, ['A']],
    ['has tags', { tags: ['el9', 'x'] }, ['A']],
    ['has a tag that is nowhere', { tags: ['y'] }, []],
    ['runs long', { wallTime: 3601 }, ['A']],
    ['needs GPUs', { gpus: 1 }, ['A']],
    ['is large', { processors: 5 }, ['A']],
  ])('gives a job that %s only to sites that can hold it', (_what, wants, expected) => {
    const small = { processors: 4, maxWallTime: 3600 };
    const sites = [
      site('A', { tags: ['x', 'el9', 'z'], gpus: 1, setups: ['Prod'], vos: ['atlas', 'lhcb'] }),
      site('B', small),
    ];
    const one = job(wants);
    const names = placed([one], { sites, load: (name) => (name === 'A' ? 0 : 1) });
    expect(names).toEqual(expected.map((name) => [one.jid, name]));
  });

  it('shares what is free among the jobs of one match, at the sites with the least load', () => {
    const jobs = Array.from({ length: 5 }, () => job({ processors: 2 }));
    const sites = [site('A', { processors: 4 }), site('B', { processors: 4 })];
    const names = placed(jobs, { sites }).map(([, name]) => name);
    expect(names).toEqual(['A', 'B', 'A', 'B']);
  });

  it('counts as load what it gives, not what more jobs of a lane would have got', () => {
    const one = job();
    const sites = [site('A'), site('B')];
    const load = (name: string): number => (name === 'A' ? 0 : 1);
    expect(placed([one], { sites, load, limit: 2 })).toEqual([[one.jid, 'A']]);
  });

  it('lets small jobs pass a large one, until it has waited for long', () => {
    const large = job({ processors: 4, waited: 59 });
    const small = [job(), job()];
    const room = { sites: [site('A', { processors: 4 })], used: { A: { processors: 2 } } };
    expect(placed([large, ...small], room)).toEqual(small.map(({ jid }) => [jid, 'A']));
    const old = { ...large, lastUpdate: new Date(NOW - 60_000) };
    expect(placed([old, ...small], room)).toEqual([]);
    expect(placed([old, ...small], { sites: room.sites })).toEqual([[old.jid, 'A']]);
  });

  it('keeps room from those behind it only, for one job, and only what it needs', () => {
    const before = job({ processors: 1 });
    const large = job({ processors: 4, gpus: 1, waited: 100 });
    const other = job({ processors: 5, gpus: 1, waited: 100 });
    const behind = [job(), job()];
    const sites = [site('A', { processors: 8, gpus: 1 })];
    const used = { A: { processors: 2, gpus: 1 } };
    // Six are free; one is taken before, four are kept: one is left for those behind.
    const expected = [before, behind[0]].map((one) => [one?.jid, 'A']);
    expect(placed([before, large, other, ...behind], { sites, used })).toEqual(expected);
  });

  it('counts the machine where a site declares nothing', () => {
    const machine = { processors: 3, ahead: 0, ramMB: 1000 };
    const sites = [site('A', { processors: 99 })];
    const jobs = [job({ processors: 2 }), job({ processors: 2 }), job({ minRamMb: 1001 }), job()];
    expect(placed(jobs, { sites, machine }).map(([jid]) => jid)).toEqual([
      jobs[0]?.jid,
      jobs[3]?.jid,
    ]);
  });

  it('prepares jobs of one processor ahead, but not before an old large one', () => {
    const machine = { processors: 0, ahead: 2, ramMB: 1000 };
    const sites = [site('A', { processors: 99 })];
    const small = [job(), job(), job()];
    const large = job({ processors: 2 });
    expect(placed([large, ...small], { sites, machine }).map(([jid]) => jid)).toEqual(
      small.slice(0, 2).map(({ jid }) => jid),
    );
    const old = { ...large, lastUpdate: new Date(0), jid: 0n };
    expect(placed([old, ...small], { sites, machine })).toEqual([]);
  });

  it('keeps no room of the machine for a job whose site is full by itself', () => {
    const sites = [site('A', { slots: 1 }), site('B')];
    const used = { A: { jobs: 1, processors: 1 } };
    const machine = { processors: 1, ahead: 0, ramMB: Infinity };
    const old = job({ wantedSites: ['A'], waited: 61 });
    const other = job({ wantedSites: ['B'] });
    expect(placed([old, other], { sites, machine, used })).toEqual([[other.jid, 'B']]);
    // With room at the site the machine is what it waits for.
    const large = job({ wantedSites: ['A'], processors: 2, priority: 2, waited: 61 });
    expect(placed([large, other], { sites, machine })).toEqual([]);
  });

  it('goes no further than the pages are known, and says so', () => {
    const match = new Match({
      heads: [job(), job({ processors: 2 })],
      sites: [site('A')],
      machine: EVERYTHING,
      limit: 2,
      now: NOW,
      reserveMs: 0,
      load: () => 0,
    });
    const pages = match.pages();
    expect(pages.map(({ size }) => size)).toEqual([2, 1]);
    const many = [job(), job(), job({ processors: 2 })];
    expect(match.choose(many, pages)).toHaveLength(2);
    expect(match.isCut).toBe(true);
  });

  it('is vain for jobs that none of the sites can hold', () => {
    const input = { machine: EVERYTHING, limit: 1, now: NOW, reserveMs: 0, load: () => 0 };
    const of = (one: QueuedJob) => new Match({ ...input, heads: [one], sites: [site('A')] });
    expect(of(job({ gpus: 1 })).isVain).toBe(true);
    expect(of(job()).isVain).toBe(false);
  });

  it('looks at the columns of each job: two shapes may have one hash', () => {
    const one = job();
    const other = { ...job({ gpus: 1 }), shape: one.shape };
    expect(placed([one, other])).toEqual([[one.jid, 'A']]);
  });
});

describe('shares', () => {
  const shares = (used: Record<string, number>, weights: Record<string, number> = {}): Shares => ({
    uses: Object.entries(used).map(([name, seconds]) => {
      const [ownerGroup = '', owner = ''] = name.split('/');
      return { ownerGroup, owner, used: seconds, held: 0 };
    }),
    weightOf: (group) => weights[group] ?? 1,
  });
  const of = (name: string, count: number, more: Partial<QueuedJob> = {}): QueuedJob[] => {
    const [ownerGroup = '', owner = ''] = name.split('/');
    return Array.from({ length: count }, () => job({ ownerGroup, owner, ...more }));
  };
  /** Who gets places, in their order. */
  const whose = (jobs: readonly QueuedJob[], more: Partial<MatchInput>): string[] => {
    const names = new Map(jobs.map((one) => [one.jid, `${one.ownerGroup}/${one.owner}`] as const));
    return placed(jobs, more).map(([jid]) => names.get(jid) ?? '');
  };

  it('go before priority and age: nobody waits while somebody has had more', () => {
    const jobs = [...of('g/a', 3, { priority: 9 }), ...of('g/b', 2)];
    expect(whose(jobs, { shares: shares({ 'g/a': 1000 }), limit: 3 })).toEqual([
      ...['g/b', 'g/b', 'g/a'],
    ]);
    expect(whose(jobs, { limit: 3 })).toEqual(['g/a', 'g/a', 'g/a']);
  });

  it('are equal from the beginning: owners take turns, the older one first', () => {
    const jobs = [...of('g/a', 3), ...of('g/b', 3)];
    expect(whose(jobs, { shares: shares({}), limit: 4 })).toEqual(['g/a', 'g/b', 'g/a', 'g/b']);
  });

  it('count processors, not jobs', () => {
    const jobs = [...of('g/a', 4, { processors: 3 }), ...of('g/b', 4)];
    expect(whose(jobs, { shares: shares({}), limit: 5 })).toEqual([
      ...['g/a', 'g/b', 'g/b', 'g/b', 'g/a'],
    ]);
  });

  it('are of groups by weight first, then of their owners', () => {
    const jobs = [...of('big/a', 9), ...of('big/b', 9), ...of('small/c', 9), ...of('small/d', 9)];
    const names = whose(jobs, { shares: shares({}, { big: 3 }), limit: 8 });
    const count = (name: string): number => names.filter((one) => one === name).length;
    expect(['big/a', 'big/b', 'small/c', 'small/d'].map(count)).toEqual([3, 3, 1, 1]);
  });

  it('that nobody wants are used by others', () => {
    const used = shares({ 'g/a': 1e9, 'h/b': 0 }, { g: 1, h: 1000 });
    expect(whose(of('g/a', 3), { shares: used })).toEqual(['g/a', 'g/a', 'g/a']);
  });

  it('leave priority and age to the jobs of one owner', () => {
    const [old, urgent] = [...of('g/a', 1), ...of('g/a', 1, { priority: 5, processors: 2 })];
    expect(placed([old as QueuedJob, urgent as QueuedJob], { shares: shares({}) })).toEqual([
      [urgent?.jid, 'A'],
      [old?.jid, 'A'],
    ]);
  });

  it('keep room for an old large job of who is next', () => {
    const [large] = of('g/a', 1, { processors: 4 });
    const old = { ...(large as QueuedJob), lastUpdate: new Date(NOW - 60_000) };
    const jobs = [...of('g/b', 4), old];
    const room = { sites: [site('A', { processors: 4 })], used: { A: { processors: 2 } } };
    expect(whose(jobs, { ...room, shares: shares({ 'g/b': 100 }) })).toEqual([]);
    expect(whose(jobs, { ...room, shares: shares({ 'g/a': 100 }) })).toEqual(['g/b', 'g/b']);
  });

  it('read as many jobs of each lane as it may get, and say when that was too few', () => {
    const jobs = [...of('g/a', 100), ...of('g/b', 100)];
    const heads = [jobs[0] as QueuedJob, jobs[100] as QueuedJob];
    const match = new Match({
      ...{ heads, sites: [site('A')], machine: EVERYTHING, limit: 10, now: NOW, reserveMs: 0 },
      shares: shares({ 'g/a': 480 }),
      load: () => 0,
    });
    const pages = match.pages();
    expect(pages.map(({ owner, size }) => [owner, size])).toEqual([
      ['b', 10],
      ['a', 6],
    ]);
    const few = [...jobs.slice(0, 5), ...jobs.slice(100, 103)];
    expect(match.choose(few, pages)).toHaveLength(8);
    expect(match.isCut).toBe(false);
    const full = pages.map((page) => ({ ...page, size: 3 }));
    expect(match.choose(jobs.slice(100, 103), full)).toHaveLength(3);
    expect(match.isCut).toBe(true);
  });
});

describe('limits of running jobs', () => {
  const of = (
    ownerGroup: string,
    owner: string,
    count: number,
    more: Parameters<typeof job>[0] = {},
  ) => Array.from({ length: count }, () => job({ ownerGroup, owner, ...more }));
  const limits = (group: object) => ({
    group: (name: string) => (name === 'atlas' ? { limits: group } : undefined) as never,
    userByName: () => undefined,
  });
  const owners = (jobs: readonly QueuedJob[], more: Parameters<typeof placed>[1]) => {
    const byJid = new Map(jobs.map((one) => [one.jid, one.owner]));
    return placed(jobs, more).map(([jid]) => byJid.get(jid));
  };

  it('stop whom they are for and nobody else', () => {
    const jobs = [...of('atlas', 'a', 9), ...of('atlas', 'b', 9), ...of('cms', 'c', 2)];
    expect(owners(jobs, { limits: limits({ running: 3, ownerRunning: 2 }) })).toEqual([
      ...['a', 'a', 'b'],
      ...['c', 'c'],
    ]);
    expect(owners(jobs, { limits: limits({ running: 0 }) })).toEqual(['c', 'c']);
  });

  it('keep no room for a job that may not start', () => {
    const old = of('atlas', 'a', 2, { processors: 4, waited: 1_000 });
    const jobs = [...old, ...of('cms', 'c', 2)];
    const sites = [site('A', { processors: 4 })];
    expect(owners(jobs, { sites, limits: limits({ running: 0 }) })).toEqual(['c', 'c']);
    const tagged = [...of('atlas', 'a', 2, { tags: ['x'], waited: 1_000 }), ...of('cms', 'c', 2)];
    const few = [site('A', { processors: 2, tags: ['x'], limits: { tags: { x: 0 } } })];
    expect(owners(tagged, { sites: few })).toEqual(['c', 'c']);
  });

  it('count at a site, and there by tag', () => {
    const jobs = [...of('atlas', 'a', 3, { tags: ['x'] }), ...of('atlas', 'b', 3)];
    const one = [site('A', { tags: ['x'], limits: { running: 4, tags: { x: 2 } } })];
    expect(owners(jobs, { sites: one })).toEqual(['a', 'a', 'b', 'b']);
    const used = { A: { jobs: 1, tags: { x: 1 } } };
    expect(owners(jobs, { sites: one, used })).toEqual(['a', 'b', 'b']);
  });
});

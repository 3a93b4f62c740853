import fc from 'fast-check';
import { runs, seed } from '../../../test/support/counts.js';
import { compareUse, ShareLedger, type Shares } from './fair-share.js';
import { Lane, Turns } from './lanes.js';
import { byOrder, type QueuedJob } from './queued-job.js';

const WISHES = {
  ...{
    setup: 'Prod',
    vo: 'vo',
    wantedSites: [],
    bannedSites: [],
    minRamMb: 0,
    maxRamMb: 0,
    gpus: 0,
  },
  ...{ tags: [], wallTime: null, lastUpdate: new Date(0) },
};
const uses = fc.array(
  fc.record({
    ownerGroup: fc.constantFrom('atlas', 'lhcb'),
    owner: fc.constantFrom('ann', 'ben', 'cid'),
    used: fc.nat(300),
    held: fc.nat(3),
  }),
  { maxLength: 6 },
);
const lane = fc.record({
  ownerGroup: fc.constantFrom('atlas', 'lhcb'),
  owner: fc.constantFrom('ann', 'ben', 'cid'),
  processors: fc.integer({ min: 1, max: 3 }),
  priorities: fc.array(fc.nat(4), { minLength: 1, maxLength: 5 }),
});
const steps = fc.array(fc.constantFrom('take' as const, 'pass' as const, 'close' as const), {
  maxLength: 60,
});

type Model = QueuedJob[][];

/** The first job of all, looked for among all: by use of the group, of the owner, priority and age. */
function firstOf(lanes: Model, ledger: ShareLedger): number {
  const places = lanes.flatMap((jobs, place) => (jobs.length > 0 ? [place] : []));
  const order = (a: QueuedJob, b: QueuedJob): number =>
    compareUse(ledger.accountOf(a), ledger.accountOf(b)) || byOrder(a, b);
  const front = (place: number): QueuedJob => lanes[place]?.[0] as QueuedJob;
  // Between groups those are compared who come first in theirs.
  const ofGroup = new Map<string, number>();
  for (const place of places) {
    const { ownerGroup } = front(place);
    const best = ofGroup.get(ownerGroup);
    if (best === undefined || order(front(place), front(best)) < 0) ofGroup.set(ownerGroup, place);
  }
  return [...ofGroup.values()].sort((a, b) => order(front(a), front(b)))[0] ?? -1;
}

describe('turns', () => {
  it('are those of a search among all jobs, whatever becomes of each', () => {
    fc.assert(
      fc.property(uses, fc.array(lane, { maxLength: 12 }), steps, (used, given, todo) => {
        let jid = 0n;
        const model: Model = given.map(({ priorities, ...wishes }, shape) =>
          priorities
            .map((priority) => ({ ...WISHES, ...wishes, shape, priority, jid: (jid += 1n) }))
            .sort(byOrder),
        );
        const shares: Shares = { uses: used, weightOf: (group) => (group === 'lhcb' ? 2 : 1) };
        const ledger = new ShareLedger(shares);
        const lanes = model.map((jobs) => new Lane(jobs[0] as QueuedJob, [...jobs], 'none'));
        const turns = new Turns(lanes, new ShareLedger(shares));
        for (const step of todo) {
          const place = firstOf(model, ledger);
          expect(turns.next()).toBe(lanes[place]);
          const jobs = model[place];
          if (!jobs) return;
          const job = jobs.shift() as QueuedJob;
          if (step === 'take') ledger.give(job);
          if (step === 'close') jobs.length = 0;
          turns[step]();
        }
      }),
      { seed, numRuns: runs(300) },
    );
  });
});

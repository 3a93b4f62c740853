/** What it costs to start isolated jobs, beside the bare command that encloses them. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

export const options = {
  starts: { default: '1000', description: 'jobs that are started in a round' },
};

/** Resident memory of a service under load. */
const BALLAST_MIB = 250;

const prepare = (means, figureOf) => async (bench) => {
  const rounds = (kind) => async () => {
    const starts = Number(bench.options.starts);
    const rest = { means, kind, starts, parallel: availableParallelism(), ballastMiB: BALLAST_MIB };
    const plan = { home: await bench.directory(), ...rest };
    const result = await bench.process('starts-process.mjs', plan);
    return { value: figureOf(result, starts), note: result.means };
  };
  return { figure: rounds('job'), floor: rounds('bare') };
};

const KINDS = [
  { what: 'processor', unit: 'ms', better: 'lower', of: (r, n) => r.processorMs / n },
  { what: 'rate', unit: 'starts/s', better: 'higher', of: (r, n) => n / r.seconds },
];

const WAYS = [
  ...(existsSync('/usr/bin/bwrap') ? [{ name: '', means: 'best', floor: 'bare bubblewrap' }] : []),
  { name: '-util-linux', means: 'util-linux', floor: 'bare unshare and its script' },
];

export const figures = WAYS.flatMap(({ name, means, floor }) =>
  KINDS.map(({ what, unit, better, of }) => ({
    name: `starts.${what}${name}`,
    title: `start of an isolated /bin/true, from its directory to its end: ${what}`,
    unit,
    better,
    floor: `${floor}, same view, namespaces and filter, by as many shell loops as processors`,
    warmUp: false,
    prepare: prepare(means, of),
  })),
);

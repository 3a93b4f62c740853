import { parseArgs } from 'node:util';
import { hasWrk } from './load.mjs';

const FRAME_OPTIONS = {
  rounds: { default: '5', description: 'rounds of each figure; the median counts' },
  seconds: { default: '3', description: 'length of one round' },
  connections: { default: '16', description: 'connections of the load' },
  generator: { default: 'auto', description: 'wrk, node or auto (wrk when installed)' },
  pool: {
    default: '40',
    description: 'GRID_DB_POOL of servers: the load is one caller, who may use a quarter of it',
  },
  beside: {
    default: '',
    description: 'another, built checkout: it is the floor, and is measured beside itself too',
  },
  profile: { default: '', description: 'directory for a CPU profile of each server' },
};

const FLAGS = {
  json: 'print JSON instead of the table',
  list: 'list the figures and measure nothing',
  help: 'this text',
};

/** Reads the command line. Throws with a message for people. */
export function readOptions(args, files) {
  const texts = Object.assign({}, FRAME_OPTIONS, ...files.map(({ options }) => options));
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: Object.fromEntries([
      ...Object.entries(texts).map(([name, one]) => [
        name,
        { type: 'string', default: one.default },
      ]),
      ...Object.keys(FLAGS).map((name) => [name, { type: 'boolean', default: false }]),
    ]),
  });
  const options = {
    ...values,
    rounds: positive('rounds', values.rounds, true),
    seconds: positive('seconds', values.seconds, false),
    connections: positive('connections', values.connections, true),
    generator: generatorOf(values.generator),
  };
  return { options, words: positionals };
}

function positive(name, text, whole) {
  const number = Number(text);
  if (number > 0 && (!whole || Number.isInteger(number))) return number;
  throw new Error(`--${name}=${text} is not a positive ${whole ? 'integer' : 'number'}`);
}

function generatorOf(wish) {
  if (!['auto', 'wrk', 'node'].includes(wish)) {
    throw new Error(`--generator=${wish} is none of auto, wrk, node`);
  }
  if (wish === 'wrk' && !hasWrk()) throw new Error('--generator=wrk: wrk is not installed');
  if (wish !== 'auto') return wish;
  return hasWrk() ? 'wrk' : 'node';
}

/** The text of --help. */
export function helpText(files) {
  const line = ([name, text]) => `  --${name.padEnd(14)} ${text}`;
  const described = (options) =>
    Object.entries(options).map(([name, { default: value, description }]) =>
      line([`${name} X`, `${description} (${value})`]),
    );
  const own = files.flatMap(({ group, options }) => {
    const lines = described(options);
    return lines.length === 0 ? [] : ['', `${group}:`, ...lines];
  });
  return [
    'npm run bench -- [figures] [options]',
    '',
    ...described(FRAME_OPTIONS),
    ...Object.entries(FLAGS).map(line),
    ...own,
  ].join('\n');
}

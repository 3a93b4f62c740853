import {
  conditionsOf,
  fileNameOf,
  gpusOf,
  megabytesOf,
  secondsOf,
  tasksOf,
} from './batch-values.js';

describe('values as sbatch takes them', () => {
  it.each([
    ['30', 1800],
    ['90', 5400],
    ['1:30', 90],
    ['30:00', 1800],
    ['1:00:00', 3600],
    ['01:30:15', 5415],
    ['2-12', 216_000],
    ['2-12:30', 217_800],
    ['2-12:30:10', 217_810],
    ['0-00:10', 600],
    ['0', undefined],
    ['UNLIMITED', undefined],
    ['infinite', undefined],
  ])('the time %s', (text, seconds) => {
    expect(secondsOf(text)).toBe(seconds);
  });

  it.each(['', '1h', '1:2:3:4', '-5', '1-', '1-2:3:4:5', '1.5', '0:00'])('no time: %s', (text) => {
    expect(() => secondsOf(text)).toThrow(/is no time/);
  });

  it.each([
    ['4000', 4000],
    ['4000M', 4000],
    ['512K', 1],
    ['4G', 4096],
    ['4gb', 4096],
    ['4GiB', 4096],
    ['1.5G', 1536],
    ['1T', 1_048_576],
  ])('the memory %s', (text, megabytes) => {
    expect(megabytesOf(text)).toBe(megabytes);
  });

  it('no memory', () => {
    expect(() => megabytesOf('much')).toThrow('is no amount of memory');
    expect(() => megabytesOf('0')).toThrow('all the memory of a node');
  });

  it.each([
    ['1-3', { tasks: [1, 2, 3] }],
    ['0-9:3', { tasks: [0, 3, 6, 9] }],
    ['1,3,5-6', { tasks: [1, 3, 5, 6] }],
    ['0-2%2', { tasks: [0, 1, 2], atOnce: 2 }],
    ['7', { tasks: [7] }],
  ])('the tasks %s', (text, expected) => {
    expect(tasksOf(text)).toEqual(expected);
  });

  it.each(['', 'a', '3-1', '1,1', '1-', '1--2', '1-5:0', ',', '1,'])('no tasks: %s', (text) => {
    expect(() => tasksOf(text)).toThrow('is no list of tasks');
  });

  it('not more tasks than go in one submit', () => {
    expect(() => tasksOf('0-9999999')).toThrow('makes 10000000 jobs');
  });

  it.each([
    ['2', 2],
    ['gpu', 1],
    ['gpu:2', 2],
    ['gres:gpu:2', 2],
    ['gres/gpu:2', 2],
    ['0', 0],
  ])('the GPUs %s', (text, gpus) => {
    expect(gpusOf(text)).toBe(gpus);
  });

  it.each(['gpu:a100:2', 'a100:2', 'shard:2', 'gpu:2,gpu:1', ''])('no GPUs: %s', (text) => {
    expect(() => gpusOf(text)).toThrow('for the kind by --tag');
  });

  it('conditions', () => {
    expect(conditionsOf('afterok:7:8,afterany:9,afternotok:1')).toEqual([
      { jid: 7, on: 'done' },
      { jid: 8, on: 'done' },
      { jid: 9, on: 'end' },
      { jid: 1, on: 'failed' },
    ]);
  });

  it.each(['singleton', 'after:7', 'afterok', 'afterok:x', 'afterok:7?afterok:8', 'aftercorr:7'])(
    'no conditions: %s',
    (text) => {
      expect(() => conditionsOf(text)).toThrow('is not offered here');
    },
  );

  describe('names of files', () => {
    const warnings: string[] = [];
    const nameOf = (pattern: string, task?: string) =>
      fileNameOf({ pattern, warn: (text) => warnings.push(text) }, { name: 'a/b', task });
    beforeEach(() => warnings.splice(0));

    it.each([
      ['out.txt', 'out.txt'],
      ['%x-%j.out', 'a_b-%j.out'],
      ['100%%.txt', '100%.txt'],
      ['slurm-%A.out', 'slurm-%j.out'],
    ])('%s', (pattern, name) => {
      expect(nameOf(pattern)).toBe(name);
      expect(warnings).toEqual([]);
    });

    it('have the number in an array', () => {
      expect(nameOf('%A_%a.out', '<task>')).toBe('%j_<task>.out');
      expect(warnings).toEqual(['has %A, which becomes the id of each job here']);
    });

    it('have no directory, which is told', () => {
      expect(nameOf('logs/%j.out')).toBe('%j.out');
      expect(warnings).toEqual([
        'becomes %j.out: what a job writes comes back by `gridgate output`, without a directory',
      ]);
    });

    it('are kept where nothing is wanted', () => {
      expect(nameOf('/dev/null')).toBeUndefined();
      expect(warnings).toHaveLength(1);
    });

    it.each(['%a.out', '%N.out', '%4j.out', 'x%'])('refuse %s', (pattern) => {
      expect(() => nameOf(pattern)).toThrow('which is not known here: %j and %x are');
    });
  });
});

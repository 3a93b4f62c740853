import { gridLinesOf } from './grid-lines.js';
import { keysOf, mergedWishes, readOptions } from './job-keys.js';
import { JOB_OPTIONS, jobOption, writtenOptions } from './job-options.js';

const read = (...lines: string[]) =>
  readOptions(
    gridLinesOf(
      lines.map((line) => `#GRID ${line}`).join('\n'),
      (option) => jobOption(option)?.isFlag === true,
    ).options,
    ({ line }) => `line ${line}: `,
  );
const keys = (...lines: string[]) => {
  const { wishes, faults, warnings } = read(...lines);
  expect(faults).toEqual([]);
  return keysOf(wishes, { name: 'job', warn: (text) => warnings.push(text) });
};

describe('options of jobs', () => {
  it('have each name once', () => {
    const names = JOB_OPTIONS.flatMap((option) => option.names);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it.each([
    [['-n 4'], { NumberOfProcessors: 4 }],
    [['--ntasks=2', '-c 4'], { NumberOfProcessors: 8 }],
    [['--cpus=3'], { NumberOfProcessors: 3 }],
    [['-N 1', '--ntasks-per-node=2'], { NumberOfProcessors: 2 }],
    [['--nodes=1-1'], {}],
    [['--mem=2G'], { MinRAM: 2048, MaxRAM: 2048 }],
    [['-c 4', '--mem-per-cpu=500'], { NumberOfProcessors: 4, MinRAM: 2000, MaxRAM: 2000 }],
    [['--gpus=2', '--mem-per-gpu=1G'], { GPUs: 2, MinRAM: 2048, MaxRAM: 2048 }],
    [['--gres=gpu:1'], { GPUs: 1 }],
    [['-n 2', '--gpus-per-task=1'], { NumberOfProcessors: 2, GPUs: 2 }],
    [['-t 10'], { WallTime: 600 }],
    [['--time=0'], {}],
    [['-t 2-00', '-n 2'], { NumberOfProcessors: 2, WallTime: 172_800, CPUTime: 345_600 }],
    [['--site=A,B', '--site=C'], { Sites: ['A', 'B', 'C'] }],
    [['--output-data=a', '--output-data=*.root'], { OutputData: ['a', '*.root'] }],
    [['--output-path=/vo/%j'], { OutputPath: '/vo/%j' }],
    [['--constraint=el9&avx', '--tag x'], { Tags: ['el9', 'avx', 'x'] }],
    [['-o out.txt'], { StdOutput: 'out.txt', StdError: 'out.txt' }],
    [['-o out.txt', '-e err.txt'], { StdOutput: 'out.txt', StdError: 'err.txt' }],
    [['-e %x.err'], { StdError: 'job.err' }],
    [
      ['--output-file=a.txt', '--output-file=*.root', '-o log'],
      { StdOutput: 'log', StdError: 'log', OutputSandbox: ['log', 'a.txt', '*.root'] },
    ],
    [['-d afterok:7'], { After: [{ jid: 7, on: 'done' }] }],
    [['--input-data=/vo/a'], { InputData: ['/vo/a'] }],
    [['-H'], { Hold: true }],
    [['--group=g', '--parsable'], { JobGroup: 'g' }],
    [['--export=NONE'], {}],
    [['--export=A=1,B=2'], { ExecutionEnvironment: { A: '1', B: '2' } }],
  ])('%p', (lines, expected) => {
    const { ExecutionEnvironment: variables, ...others } = keys(...lines) as any;
    const own = Object.entries(variables ?? {}).filter(([name]) => !name.startsWith('SLURM_'));
    const environment = own.length > 0 ? { ExecutionEnvironment: Object.fromEntries(own) } : {};
    expect({ ...others, ...environment }).toEqual(expected);
  });

  it('set the variables that Slurm sets for them', () => {
    expect(keys('-n 2 -c 3', '--array=1,4')).toMatchObject({
      'Parameters.SLURM_ARRAY_TASK_ID': [1, 4],
      ExecutionEnvironment: {
        SLURM_NTASKS: '2',
        SLURM_CPUS_PER_TASK: '3',
        SLURM_ARRAY_TASK_COUNT: '2',
        SLURM_ARRAY_TASK_MIN: '1',
        SLURM_ARRAY_TASK_MAX: '4',
        SLURM_ARRAY_TASK_ID: '%(SLURM_ARRAY_TASK_ID)s',
      },
    });
  });

  it('say what has no effect, and refuse what would change what runs', () => {
    expect(
      read('--partition=short --mail-type=ALL', '--exclusive --nodes=2', '--nonsense'),
    ).toEqual({
      wishes: {},
      warnings: [
        'line 1: --partition short has no effect: sites are chosen by --site, or by what they have: --tag',
        'line 1: --mail-type ALL has no effect: no mail is sent; --wait waits for the end, `gridgate watch` and webhooks tell of it',
      ],
      faults: [
        'line 2: --exclusive is not offered here: a job has the processors that it asks for, and nobody else has them: --cpus',
        'line 2: --nodes 2 asks for several nodes, and a job has one: --cpus, or several jobs by --array',
        'line 3: --nonsense is no option of a job',
      ],
    });
    expect(read('--time').faults).toEqual(['line 1: --time has no value']);
    expect(read('-n many').faults).toEqual(['line 1: -n many is no number from 1 on']);
    expect(read('--n 4').faults).toEqual(['line 1: --n 4 is no option of a job']);
  });

  it('of the command line go before those of a script', () => {
    const { wishes } = read('--ntasks=4', '--time=10', '--env=A=1 --env=B=1', '--tag=x');
    const given = { cpus: '2', env: ['A=2'], tag: ['y'], exclusive: undefined };
    const over = readOptions(writtenOptions(given), () => '');
    expect(mergedWishes(wishes, over.wishes)).toMatchObject({
      ...{ cpus: 2, tasks: undefined, seconds: 600, tags: ['y'] },
      environment: { A: '2', B: '1' },
    });
    expect(readOptions(writtenOptions({ exclusive: true }), () => '').faults).toHaveLength(1);
  });
});

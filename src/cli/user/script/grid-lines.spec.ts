import { gridLinesOf } from './grid-lines.js';

const read = (...lines: string[]) =>
  gridLinesOf(lines.join('\n'), (option) => ['--exclusive', '-H'].includes(option));
const options = (line: string) =>
  read('#!/bin/sh', line).options.map(({ option, value }) => [option, value]);

describe('lines of #GRID', () => {
  it.each([
    ['#GRID --time=1:00:00', [['--time', '1:00:00']]],
    ['#GRID --time 1:00:00', [['--time', '1:00:00']]],
    [
      '#GRID -t 10 -n 4',
      [
        ['-t', '10'],
        ['-n', '4'],
      ],
    ],
    ['#GRID -n4', [['-n', '4']]],
    ['#GRID\t--mem=4G', [['--mem', '4G']]],
    [
      '#GRID --exclusive --mem 4G',
      [
        ['--exclusive', undefined],
        ['--mem', '4G'],
      ],
    ],
    [
      '#GRID -H -n 1',
      [
        ['-H', undefined],
        ['-n', '1'],
      ],
    ],
    ['#GRID --requeue', [['--requeue', undefined]]],
    ['#GRID --job-name="two words"', [['--job-name', 'two words']]],
    ["#GRID -J 'two words'", [['-J', 'two words']]],
    ['#GRID --time=5 # not long, it’s short', [['--time', '5']]],
    ["#GRID --time=5 # it's short", [['--time', '5']]],
    ['#GRID --job-name=a#b', [['--job-name', 'a#b']]],
    ['#GRID --env=A=b=c', [['--env', 'A=b=c']]],
    ['#GRID --mem=4G\r', [['--mem', '4G']]],
    ['#GRID', []],
    ['##GRID --mem=4G', []],
    ['#GRIDS --mem=4G', []],
    ['# GRID --mem=4G', []],
  ])('%s', (line, expected) => {
    expect(options(line)).toEqual(expected);
  });

  it('end with the first command, and those below are told', () => {
    const found = read('#!/bin/sh', '', '# says', '#GRID -n 2', 'echo', '#GRID -n 3');
    expect(found).toEqual({
      options: [{ option: '-n', value: '2', line: 4 }],
      faults: [],
      warnings: ['line 6: #GRID is read above the first command only'],
    });
  });

  it('are those of Slurm where there are no others', () => {
    const found = read('#!/bin/sh', '#SBATCH -n 2', '#PBS -l x', 'echo', '#SBATCH -t 3');
    expect(found).toEqual({
      options: [{ option: '-n', value: '2', line: 2 }],
      faults: [],
      warnings: [
        'line 3: #PBS lines are not read: write #GRID',
        'line 5: #SBATCH is read above the first command only',
      ],
    });
  });

  it('go before those of Slurm, of which it is told once that they are not read', () => {
    const found = read('#!/bin/sh', '#SBATCH -n 2', '#SBATCH -t 3', '#GRID -n 4');
    expect(found.options).toEqual([{ option: '-n', value: '4', line: 4 }]);
    expect(found.warnings).toEqual(['line 2: #SBATCH lines are not read: write #GRID']);
  });

  it('say what cannot be read', () => {
    const found = read('#!/bin/sh', '#GRID --job-name="x', '#GRID hetjob', '#GRID -n 1 job');
    expect(found.faults).toEqual([
      'line 2: a quote has no end',
      'line 3: hetjob is no option',
      'line 4: job is no option',
    ]);
  });
});

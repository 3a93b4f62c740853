import { isOwnProgram } from './own-programs.js';

const [script, words, other] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [
  string,
  string,
  string,
];
const known = [script, words];
const files = [
  { name: 'count.sh', hash: script },
  { name: 'words.txt', hash: words },
];
const manifest = { JobName: 'x', Executable: 'count.sh', InputSandbox: ['count.sh', 'words.txt'] };

describe('isOwnProgram', () => {
  it('knows a job by the content of all its files', () => {
    expect(isOwnProgram(manifest, files, known)).toBe(true);
    const stored = { ...manifest, Arguments: '', ExecutionEnvironment: {}, Setup: 'Prod' };
    expect(isOwnProgram(stored, files, known)).toBe(true);
  });

  it.each([
    ['a program of the machine', { ...manifest, Executable: '/bin/sh' }, files],
    ['a program that is not uploaded', manifest, files.slice(1)],
    ['a file that is not known', manifest, [...files, { name: 'x', hash: other }]],
    ['another program under that name', manifest, [{ name: 'count.sh', hash: other }]],
    ['no file', manifest, []],
    ['arguments', { ...manifest, Arguments: '-c id' }, files],
    ['variables', { ...manifest, ExecutionEnvironment: { LD_PRELOAD: './x' } }, files],
  ])('refuses %s', (_what, asked, uploaded) => {
    expect(isOwnProgram(asked, uploaded, known)).toBe(false);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodePath } from '#src/client/index.js';
import { CommandUser, type Ended } from '../support/command.js';
import { startGrid, type Grid } from '../support/testbed.js';

describe('gridgate catalogue meta', () => {
  let grid: Grid;
  let home: string;
  let user: CommandUser;

  beforeAll(async () => {
    grid = await startGrid();
    home = await mkdtemp(join(tmpdir(), 'grid-metadata-'));
    user = new CommandUser(home);
    await user.login(grid, 'fred');
    const fred = await grid.as('fred');
    await fred.put(`/filecatalogue/file/${encodePath('/vo/free')}`, { json: { Size: 1 } });
    await fred.post(`/filecatalogue/directory/${encodePath('/vo/declared')}`);
    for (const [name, type] of Object.entries({ pass: 'string', count: 'int', mass: 'float' }))
      await fred.post('/filecatalogue/metadata', { json: { name, type } });
  });
  afterAll(async () => {
    await grid?.remove();
    await rm(home, { recursive: true, force: true });
  });

  const meta = (...words: string[]): Promise<Ended> => user.run(['catalogue', 'meta', ...words]);
  const set = async (path: string, ...words: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await meta(path, ...words, '-o', 'json');
    return code === 0 ? (JSON.parse(stdout) as unknown) : { code, stdout, stderr };
  };

  it('takes values of keys that nobody has declared as the texts that they are', async () => {
    const words = ['commit=123e4', 'version=4.10', 'build=4.0', 'tag=0123', 'good=true', 'n=7'];
    const texts = { commit: '123e4', version: '4.10', build: '4.0', tag: '0123', good: 'true' };
    expect(await set('/vo/free', ...words)).toEqual({ ...texts, n: '7' });
    expect(await set('/vo/free', 'version="4.20"', 'n=null', 'tag=[x', 'good="null"')).toEqual({
      ...texts,
      ...{ version: '4.20', tag: '[x', good: 'null' },
    });
  });

  it('takes values of declared fields by their type, and says what does not fit', async () => {
    expect(await set('/vo/declared', 'pass=7', 'count=7', 'mass=4.10')).toEqual({
      ...{ pass: '7', count: 7, mass: 4.1 },
    });
    expect(await set('/vo/declared', 'pass=07', 'count=9007199254740993')).toMatchObject({
      pass: '07',
    });
    const refused = (stderr: string): Ended => ({ code: 2, stdout: '', stderr });
    expect(await set('/vo/declared', 'count=1.5')).toEqual(
      refused('gridgate: count: is not a decimal integer\n'),
    );
    expect(await set('/vo/declared', 'mass=heavy')).toEqual(
      refused('gridgate: mass: is not a number\n'),
    );
    expect(await set('/vo/free', 'list=[1,2]')).toEqual(
      refused('gridgate: list: is neither a string nor a number\n'),
    );
  });
});

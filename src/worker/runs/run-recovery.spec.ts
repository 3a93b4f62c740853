import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { RunDirectory } from './run-directory.js';
import { wasStarted } from './run-recovery.js';

const BOOT = 'this boot';

let home: string;

/** What becomes of a run whose start record has that text. */
async function became(started: string | undefined, boot: string): Promise<string> {
  const directory = new RunDirectory(join(home, '7.1'));
  directory.create(false);
  if (started !== undefined) writeFileSync(join(directory.path, 'started'), started);
  const said: string[] = [];
  const says = (what: string) => () => Promise.resolve(void said.push(what));
  const life = { requeue: says('back'), failUnknown: says('lost') };
  const parts = { clock: { now: () => 0 } };
  const context = { parts, place: {}, life, boot: BOOT } as unknown as LocalContext;
  const isStarted = await wasStarted(context, { directory } as unknown as LocalRun, boot);
  return isStarted ? 'started' : said.join();
}

describe('a run of which a process before has left the directory', () => {
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'gridgate-recovery-'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it.each([
    ['goes back without a start record', undefined, BOOT, 'back'],
    ['goes on with one', '7 8 end\n', BOOT, 'started'],
    ['is lost after a reboot without one', undefined, 'another', 'lost'],
    ['is lost after a reboot that has emptied it', '', 'another', 'lost'],
    ['goes back after a reboot when it was given up', 'abandoned end\n', 'another', 'back'],
    ['goes on after a reboot with one', '7 8 end\n', 'another', 'started'],
  ])('%s', async (_, started, boot, what) => {
    expect(await became(started, boot)).toBe(what);
  });
});

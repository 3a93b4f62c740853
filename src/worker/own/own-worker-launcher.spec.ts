import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '#src/config/env.js';
import { createLogger } from '#src/runtime/index.js';
import { EXIT_OFF, OwnWorkerLauncher } from './own-worker-launcher.js';

describe('the launcher of the own worker', () => {
  let home: string;
  let said: string[];
  let launcher: OwnWorkerLauncher;
  const node = process.execPath;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'launcher-'));
    said = [];
  });
  afterEach(async () => {
    process.execPath = node;
    await launcher.stop(false);
    rmSync(home, { recursive: true, force: true });
  });

  /** A worker that ends with these codes, one after the other, and then stays; answers why none runs, when it was said. */
  async function start(...codes: number[]): Promise<string[]> {
    const script = join(home, 'worker.mjs');
    const count = JSON.stringify(join(home, 'starts'));
    writeFileSync(
      script,
      `import { appendFileSync, readFileSync } from 'node:fs';
      appendFileSync(${count}, '.');
      const code = ${JSON.stringify(codes)}[readFileSync(${count}).length - 1];
      if (code !== undefined) process.exit(code);
      console.error(JSON.stringify({ level: 'info', msg: 'it stays' }));
      setInterval(() => undefined, 1_000);`,
    );
    const config = readConfig({ GRID_HOME: home, GRID_DEMO: 'true' });
    const write = (line: string): void => void said.push(String(JSON.parse(line).msg));
    launcher = new OwnWorkerLauncher(
      config,
      { script, version: '0' },
      createLogger('info', { write }),
    );
    const off: string[] = [];
    await launcher.start({ taken: [], onOff: (reason) => off.push(reason) });
    return off;
  }
  async function until(message: string): Promise<void> {
    while (!said.includes(message)) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  it('starts it again when it has ended', async () => {
    const off = await start(1, 0);
    await until('it stays');
    const ended = 'the worker has ended and is started again';
    expect([said, off]).toEqual([[ended, ended, 'it stays'], []]);
  });

  it('says once why no job can run, and tries again all the same', async () => {
    const off = await start(EXIT_OFF, EXIT_OFF, EXIT_OFF);
    await until('it stays');
    expect([said, off.length]).toEqual([['it stays'], 1]);
    expect(readFileSync(join(home, 'starts'), 'utf8')).toBe('....');
  });

  it('tries again when the system makes no process for it', async () => {
    process.execPath = '/no/such/program';
    const off = await start();
    await until('the worker is not started');
    process.execPath = node;
    await until('it stays');
    expect([said.at(-1), off]).toEqual(['it stays', []]);
  });
});

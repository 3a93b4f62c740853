import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'undici';

/** V8 gives pages back some collections later. */
const TIMES = 4;
const PAUSE_MS = 300;
const ADDRESS = /Debugger listening on (ws:\S+)/g;

/** Has a Node process that was started with --inspect-port=0 collect its garbage; `log` has its standard error. */
export async function collectGarbage({ pid, log }) {
  const url = await inspector(pid, log);
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error('no inspector')), { once: true });
  });
  for (let id = 1; id <= TIMES; id += 1) {
    const answered = new Promise((resolve) =>
      socket.addEventListener('message', resolve, { once: true }),
    );
    socket.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }));
    await answered;
    await pause(PAUSE_MS);
  }
  socket.close();
}

async function inspector(pid, log) {
  for (let tries = 0; tries < 100; tries += 1) {
    const [found] = [...(await readFile(log, 'utf8')).matchAll(ADDRESS)].slice(-1);
    if (found) return found[1];
    if (tries === 0) process.kill(pid, 'SIGUSR1');
    await pause(50);
  }
  throw new Error('the inspector of the server does not open');
}

import { EventSource } from 'eventsource';
import { Agent, fetch } from 'undici';
import type { Grid } from './testbed.js';

/** What a watcher has got. */
export interface Got {
  id: string;
  event: string;
  data: any;
}

/** Somebody who watches a feed as a browser does, by npm's `eventsource`. */
export class Watcher {
  readonly got: Got[] = [];
  readonly refusals: number[] = [];
  opened = 0;
  private readonly source: EventSource;
  private readonly agent: Agent;

  constructor(grid: Grid, token: string, path: string) {
    this.agent = new Agent({ connect: { ca: grid.ca } });
    const dispatcher = this.agent;
    this.source = new EventSource(`${grid.url}${path}`, {
      fetch: async (url, init) => {
        const headers = { ...init.headers, Authorization: `Bearer ${token}` };
        return await fetch(url, { ...init, headers, dispatcher });
      },
    });
    this.source.addEventListener('open', () => (this.opened += 1));
    this.source.addEventListener('error', ({ code }) => {
      if (code !== undefined) this.refusals.push(code);
    });
    for (const event of ['job', 'left', 'position', 'end', 'directory', 'file', 'metadata']) {
      this.source.addEventListener(event, (message) => {
        this.got.push({ id: message.lastEventId, event, data: JSON.parse(message.data as string) });
      });
    }
  }

  /** True when it has given up: after a refusal. */
  get isClosed(): boolean {
    return this.source.readyState === EventSource.CLOSED;
  }

  /** Events of these kinds. */
  of(...events: string[]): Got[] {
    return this.got.filter(({ event }) => events.includes(event));
  }

  async close(): Promise<void> {
    this.source.close();
    await this.agent.destroy();
  }
}

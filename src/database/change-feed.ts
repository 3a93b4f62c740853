import type pg from 'pg';
import { sleep } from '#src/kernel/index.js';
import type { Database } from './database.js';

/** What a listener gets: the payload of the notification, or undefined when anything may have been missed. */
export type ChangeListener = (payload: string | undefined) => void;

const HEARTBEAT_MS = 400;
const RECONNECT_MS = 200;
/** With the heartbeat less than the second within which every instance must know of a revocation. */
const ANSWER_MS = 550;

/**
 * Changes that other instances must know at once (PostgreSQL LISTEN/NOTIFY). Notifications can be missed while
 * the connection is down: then `live` is false and, after reconnecting, every listener is called without payload.
 * A heartbeat of 400 ms tells a dead connection from a quiet one, so what is cached under a live feed is at most
 * that much older than the database.
 */
export class ChangeFeed {
  private readonly listeners = new Map<string, Set<ChangeListener>>();
  private client: pg.Client | undefined;
  private stopped = false;
  private loop: Promise<void> | undefined;
  private readonly stopSignal = new AbortController();
  private connected = false;
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly makeClient: () => pg.Client,
    private readonly database: Database,
  ) {}

  /** True while notifications arrive; when false, caches of the database's state must not be trusted. */
  get live(): boolean {
    return this.connected;
  }

  /** Listens to a channel until the returned function is called. Channel names are [a-z_]+. */
  listen(channel: string, listener: ChangeListener): () => void {
    if (!/^[a-z_]+$/.test(channel)) throw new Error(`bad channel name ${channel}`);
    const known = this.listeners.get(channel);
    const set = known ?? new Set();
    set.add(listener);
    if (!known) {
      this.listeners.set(channel, set);
      void this.ask(`listen ${channel}`)?.catch(() => undefined);
    }
    return () => set.delete(listener);
  }

  /** Tells every instance, this one included. Inside a transaction use the statement of `notification()`. */
  async notify(channel: string, payload = ''): Promise<void> {
    await this.database.execute(ChangeFeed.notification(channel, payload));
  }

  /** The statement that notifies when its transaction commits. */
  static notification(
    channel: string,
    payload = '',
  ): { name: string; text: string; values: string[] } {
    return {
      name: 'platform-notify',
      text: 'select pg_notify($1, $2)',
      values: [channel, payload],
    };
  }

  /** Starts the connection loop; returns at once. */
  start(): void {
    this.loop ??= this.run();
  }

  /** Ends the connection and the loop. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.stopSignal.abort(new Error('stopped'));
    await this.client?.end().catch(() => undefined);
    await this.loop;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const client = this.makeClient();
      try {
        await this.serve(client);
      } catch {
        // the database is away; the readiness probe reports it
      }
      this.connected = false;
      this.client = undefined;
      if (!this.stopped) this.database.permits.setSilent(true);
      await client.end().catch(() => undefined);
      if (!this.stopped) await this.pause(RECONNECT_MS);
    }
  }

  private async serve(client: pg.Client): Promise<void> {
    const disconnected = new Promise<never>((_resolve, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('connection ended')));
    });
    disconnected.catch(() => undefined);
    client.on('notification', ({ channel, payload }) => this.dispatch(channel, payload ?? ''));
    await client.connect();
    this.client = client;
    for (const channel of this.listeners.keys()) {
      await Promise.race([inTime(this.ask(`listen ${channel}`)), disconnected]);
    }
    this.connected = true;
    this.database.permits.setSilent(false);
    for (const channel of this.listeners.keys()) this.dispatch(channel, undefined);
    while (!this.stopped) {
      await Promise.race([this.pause(HEARTBEAT_MS), disconnected]);
      if (!this.stopped) await Promise.race([inTime(this.ask('select 1')), disconnected]);
    }
  }

  /** One statement at a time: the driver wants none while another runs. */
  private ask(text: string): Promise<unknown> | undefined {
    const { client } = this;
    if (!client) return undefined;
    const answer = this.turn.then(() => client.query(text));
    this.turn = answer.then(
      () => undefined,
      () => undefined,
    );
    return answer;
  }

  private dispatch(channel: string, payload: string | undefined): void {
    for (const listener of this.listeners.get(channel) ?? []) listener(payload);
  }

  private async pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, { signal: this.stopSignal.signal, unref: true }).catch(
      () => undefined,
    );
  }
}

/**
 * Rejects when the answer does not come: a machine that is gone without a word, or a frozen server. After a pause of
 * our own event loop the answer has its chance first: it may be waiting to be read.
 */
async function inTime(answer: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      setImmediate(() => setImmediate(() => reject(new Error('no answer in time'))));
    }, ANSWER_MS);
  });
  try {
    await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

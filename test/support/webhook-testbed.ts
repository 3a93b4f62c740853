import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IssuedCertificate } from '../../src/x509/issuing/certificate-issuer.js';
import { startNameServer, type NameServer } from './name-server.js';
import { eventually, startGrid, type Grid, type GridClient } from './testbed.js';
import {
  issueReceiverCa,
  startReceiver,
  type ReceivedMessage,
  type WebhookReceiver,
} from './webhook-receiver.js';

/** A new webhook. */
export interface MadeWebhook {
  id: string;
  secret: string;
}

/** A delivery as the owner sees it, as far as tests look. */
export interface ShownDelivery {
  id: string;
  state: string;
  attempts: number;
  nextAttempt?: string;
  payload: { data: Record<string, unknown> };
}

/** A server, a receiver that it may reach, and the name server that it asks. */
export class WebhookTestbed {
  private constructor(
    readonly grid: Grid,
    readonly receiver: WebhookReceiver,
    readonly names: NameServer,
    /** Names of hosts → addresses, as they are now. */
    readonly zone: Record<string, string[]>,
    /** Vouches for receivers. */
    readonly ca: IssuedCertificate,
    private readonly directory: string,
  ) {}

  static async start(env: Record<string, string> = {}): Promise<WebhookTestbed> {
    const directory = await mkdtemp(join(tmpdir(), 'gridgate-webhooks-'));
    const ca = await issueReceiverCa();
    const caFile = join(directory, 'ca.pem');
    await writeFile(caFile, ca.certificatePem);
    const zone: Record<string, string[]> = {};
    const names = await startNameServer((name) => zone[name] ?? []);
    const receiver = await startReceiver(ca, { names: ['127.0.0.1', 'hooks.test'] });
    const grid = await startGrid({
      env: {
        GRID_ROLE: 'api',
        GRID_LOG_LEVEL: 'warn',
        GRID_KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
        GRID_WEBHOOK_ALLOW: '127.0.0.1',
        GRID_WEBHOOK_CA: caFile,
        GRID_WEBHOOK_RESOLVERS: names.address,
        GRID_WEBHOOK_TIMEOUT: '2',
        GRID_WEBHOOK_LIMIT: '5',
        ...env,
      },
    });
    return new WebhookTestbed(grid, receiver, names, zone, ca, directory);
  }

  async remove(): Promise<void> {
    await this.grid.remove();
    await Promise.all([this.receiver.close(), this.names.close()]);
    await rm(this.directory, { recursive: true, force: true });
  }

  /** No webhooks, no messages, and a receiver that is content. */
  async reset(): Promise<void> {
    await this.grid.sql('delete from webhook');
    this.receiver.messages.length = 0;
    this.receiver.answer((_message, response) => void response.writeHead(204).end());
  }

  url(path = '/'): string {
    return `https://127.0.0.1:${this.receiver.port}${path}`;
  }

  async add(client: GridClient, rest: object = {}): Promise<MadeWebhook> {
    const json = { url: this.url(), source: 'jobs', ...rest };
    const { status, body } = await client.post<MadeWebhook>('/webhooks', { json });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      },
    ]);
    return body;
  }

  /** The messages that are meant, as soon as there are so many. */
  async received(
    count: number,
    isMeant: (message: ReceivedMessage) => boolean = () => true,
  ): Promise<ReceivedMessage[]> {
    return eventually(() => {
      const found = this.receiver.messages.filter(isMeant);
      return Promise.resolve(found.length >= count && found);
    }, `${count} messages`);
  }

  /** The deliveries of a webhook, newest first. */
  async deliveries(client: GridClient, id: string, query = {}): Promise<ShownDelivery[]> {
    const { body } = await client.get(`/webhooks/${id}/deliveries`, { query });
    return (body as { deliveries: ShownDelivery[] }).deliveries;
  }

  /** How many webhooks have not answered at their latest attempt. */
  async silent(): Promise<number> {
    const [row] = await this.grid.sql('select count(*)::int as n from webhook where silent');
    return (row as { n: number }).n;
  }

  /** Lets time pass for what waits, instead of waiting. */
  async due(id: string, triedSince = '0 s'): Promise<void> {
    await this.grid.sql(
      `update webhook_delivery set next_attempt = now(), tried_since = tried_since - $2::interval
       where webhook_id = $1 and state = 'waiting' and claimed_until is null`,
      [id, triedSince],
    );
  }
}

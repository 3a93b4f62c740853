import { bulk } from '../support/catalogue/events.js';
import { eventually, type GridClient } from '../support/testbed.js';
import type { ReceivedMessage } from '../support/webhook-receiver.js';
import { WebhookTestbed } from '../support/webhook-testbed.js';

const [OPEN, CLOSED] = [0o775, 0o700];

describe('a webhook of the catalogue', () => {
  let bed: WebhookTestbed;
  let alice: GridClient;
  let bob: GridClient;
  beforeAll(async () => {
    bed = await WebhookTestbed.start({ GRID_CATALOGUE_GLOBAL_READ: 'false' });
    [alice, bob] = [await bed.grid.as('alice'), await bed.grid.as('bob', 'grid_share')];
  });
  afterAll(() => bed?.remove());
  afterEach(() => bed.reset());

  const all = { source: 'filecatalogue' };
  /** What was made a moment before the webhook may be told or not. */
  const isBelow =
    (directory: string) =>
    ({ body }: ReceivedMessage): boolean =>
      String(body.data['path']).startsWith(`${directory}/`);
  /** The messages so far of what is below a directory. */
  const told = (directory: string): [string, object][] =>
    bed.receiver.messages.filter(isBelow(directory)).map(({ body }) => [body.type, body.data]);

  it('is told of what is at or below its prefix, each with its kind and change', async () => {
    await bulk(alice, { kind: 'directory', path: '/vo/w', mode: OPEN });
    await bed.add(alice, { ...all, filter: { prefix: '/vo/w' } });
    await bulk(alice, { kind: 'file', path: '/vo/w/f', size: 1, metadata: { run: 1 } });
    await bulk(alice, { kind: 'file', path: '/vo/other', size: 1 });
    await bulk(alice, { kind: 'file', path: '/vo/w/f', op: 'delete' });
    await bulk(alice, { kind: 'directory', path: '/vo/w/d', mode: OPEN });
    await bed.received(3, isBelow('/vo/w'));
    const sorted = told('/vo/w').sort(([a], [b]) => (a < b ? -1 : 1));
    expect(sorted).toEqual([
      ['directory.created', { path: '/vo/w/d', change: 'created' }],
      ['file.created', { path: '/vo/w/f', change: 'created' }],
      ['file.removed', { path: '/vo/w/f', change: 'removed' }],
    ]);
  });

  it('keeps the order of a path while its receiver fails', async () => {
    await bulk(alice, { kind: 'directory', path: '/vo/order', mode: OPEN });
    const { id } = await bed.add(alice, { ...all, filter: { prefix: '/vo/order' } });
    bed.receiver.answer((_message, response) => void response.writeHead(500).end());
    await bulk(alice, { kind: 'file', path: '/vo/order/f', size: 1 });
    await bed.received(1, isBelow('/vo/order'));
    await bulk(alice, { kind: 'file', path: '/vo/order/f', op: 'delete' });
    const types = async (): Promise<string> =>
      JSON.stringify((await bed.deliveries(alice, id)).map(({ payload }) => payload));
    await eventually(async () => (await types()).includes('file.removed'), 'the second to wait');
    bed.receiver.messages.length = 0;
    bed.receiver.answer((_message, response) => void response.writeHead(204).end());
    await bed.due(id);
    await bed.received(2, isBelow('/vo/order'));
    expect(told('/vo/order').map(([type]) => type)).toEqual(['file.created', 'file.removed']);
  });

  it('is told nothing of what its owner may not see, neither then nor when it is sent', async () => {
    await bulk(alice, { kind: 'directory', path: '/vo/hidden', mode: CLOSED });
    await bulk(alice, { kind: 'directory', path: '/vo/shown', mode: OPEN });
    const { id } = await bed.add(bob, { ...all, filter: { prefix: '/vo' } });
    bed.receiver.answer((_message, response) => void response.writeHead(500).end());
    await bulk(alice, { kind: 'file', path: '/vo/hidden/f', size: 1 });
    await bulk(alice, { kind: 'file', path: '/vo/shown/f', size: 1 });
    await bed.received(1, isBelow('/vo/shown'));
    await bulk(alice, { kind: 'directory', path: '/vo/shown', mode: CLOSED });
    bed.receiver.messages.length = 0;
    bed.receiver.answer((_message, response) => void response.writeHead(204).end());
    await bed.due(id);
    const isRemoval = ({ body }: ReceivedMessage): boolean => body.type === 'directory.removed';
    await bed.received(1, isRemoval);
    await eventually(
      async () => (await bed.deliveries(bob, id, { state: 'waiting' })).length === 0,
      'nothing to wait',
    );
    expect(bed.receiver.messages.filter((one) => !isRemoval(one)).map(({ body }) => body)).toEqual(
      [],
    );
    expect(JSON.stringify(await bed.deliveries(bob, id))).not.toContain('hidden');
  });

  it('needs catalogue:read, and understands its own filter only', async () => {
    const jobs = bed.grid.bearer(
      await bed.grid.token('alice', 'grid_user', 'Prod', 'webhooks jobs:read'),
    );
    const json = { url: bed.url(), ...all };
    const refused = await jobs.post('/webhooks', { json });
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      'To be told of filecatalogue the token needs the scope catalogue:read, too',
    ]);
    const details = [];
    for (const filter of [{ status: 'Done' }, { prefix: 'vo' }, { prefix: ['/a', '/b'] }]) {
      const { status, body } = await alice.post('/webhooks', { json: { ...json, filter } });
      details.push([status, body.detail]);
    }
    expect(details).toEqual([
      [400, expect.stringContaining('filter.status')],
      [400, expect.stringContaining('filter.prefix')],
      [400, expect.stringContaining('filter.prefix')],
    ]);
  });
});

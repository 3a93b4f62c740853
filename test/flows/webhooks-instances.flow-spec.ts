import { submit } from '../support/jobs.js';
import { eventually, type Grid, type GridClient } from '../support/testbed.js';
import { verified } from '../support/webhook-receiver.js';
import { WebhookTestbed } from '../support/webhook-testbed.js';

const JOBS = 100;
const STATES = ['Received', 'Checking', 'Waiting', 'Killed'];

let bed: WebhookTestbed;
const others: Grid[] = [];

beforeAll(async () => {
  bed = await WebhookTestbed.start({ GRID_WEBHOOK_CONCURRENCY: '4' });
});
afterAll(async () => {
  await Promise.all(others.map((one) => one.stop()));
  await bed?.remove();
});

/** Submits jobs and kills them: four moves each. */
async function move(client: GridClient): Promise<number[]> {
  const jids = await submit(
    client,
    Array.from({ length: JOBS }, () => ({ Executable: '/bin/true' })),
  );
  await client.delete('/jobs', { query: { jid: jids.map(String) } });
  return jids;
}

describe('three instances that share the deliveries', () => {
  it('lose none and keep their order when they are killed one after the other with deliveries under way', async () => {
    const alice = await bed.grid.as('alice');
    const { id, secret } = await bed.add(alice);
    bed.receiver.answer((_message, response) => {
      setTimeout(() => response.writeHead(204).end(), 20); // so that there are always some under way
    });
    others.push(await bed.grid.second(), await bed.grid.second());
    const jids = await move(alice);
    let last = { count: 0, at: 0 };
    /** Lets the time of the claims of the dead pass, once nobody delivers any more; those of the living it must leave alone. */
    const hasten = async (): Promise<void> => {
      const count = bed.receiver.messages.length;
      if (count !== last.count) last = { count, at: Date.now() };
      if (Date.now() - last.at < 2_000) return;
      await bed.grid.sql(
        `update webhook_delivery set claimed_until = now() where claimed_until > now() and state = 'waiting'`,
      );
    };
    for (const [index, one] of others.entries()) {
      const enough = (index + 1) * 60;
      await eventually(async () => {
        await hasten();
        return bed.receiver.messages.length >= enough;
      }, `${enough} messages`);
      await one.kill();
      others[index] = await bed.grid.second();
    }
    const wanted = jids.flatMap((jid) => STATES.map((state) => `${jid} ${state}`));
    const told = (): string[] =>
      bed.receiver.messages.map(
        ({ body: { data } }) => `${String(data['jid'])} ${String(data['status'])}`,
      );
    const isWaiting = async (): Promise<boolean> =>
      (await bed.deliveries(alice, id, { state: 'waiting' })).length > 0;
    await eventually(
      async () => {
        await hasten();
        return new Set(told()).size === wanted.length && !(await isWaiting());
      },
      'every move to be told',
      60_000,
    );
    expect([...new Set(told())].sort()).toEqual(wanted.sort());
    for (const message of bed.receiver.messages) verified(message, secret);
    for (const jid of jids) {
      // a repeated one counts where it was told first
      const seen = [...new Set(told().filter((one) => one.startsWith(`${jid} `)))];
      expect(seen).toEqual(STATES.map((state) => `${jid} ${state}`));
    }
    const ids = new Set(bed.receiver.messages.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(wanted.length);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandUser, type Ended } from '../support/command.js';
import { verified } from '../support/webhook-receiver.js';
import { WebhookTestbed } from '../support/webhook-testbed.js';

let bed: WebhookTestbed;
let home: string;
let user: CommandUser;

beforeAll(async () => {
  bed = await WebhookTestbed.start();
  home = await mkdtemp(join(tmpdir(), 'gridgate-command-'));
  user = new CommandUser(home);
  await user.login(bed.grid);
});
afterAll(async () => {
  await bed?.remove();
  await rm(home, { recursive: true, force: true });
});

const webhook = (...words: string[]): Promise<Ended> => user.run(['webhook', ...words]);

describe('gridgate webhook', () => {
  it('adds, shows, tests, rotates, replays and removes', async () => {
    const filter = ['--filter', 'status=Done', '--filter', 'status=Failed', '--all'];
    const added = await webhook('add', bed.url(), ...filter, '--description', 'of the command');
    expect(added).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^[0-9a-f-]{36} whsec_\S{44}\n$/),
      stderr: '',
    });
    const [id = '', secret = ''] = added.stdout.trim().split(' ');
    const listed = await webhook('list');
    expect(listed.stdout.split('\n')[1]?.split(/ {2,}/)).toEqual([
      ...[id, 'jobs', 'enabled', bed.url()],
    ]);
    const { stdout: shown } = await webhook('show', id, '--json');
    expect(JSON.parse(shown)).toMatchObject({
      filter: { status: ['Done', 'Failed'], allOwners: true },
      description: 'of the command',
    });
    expect(await webhook('test', id)).toEqual({
      ...{ code: 0, stdout: 'delivered: answered 204\n', stderr: '' },
    });
    const [message] = await bed.received(1);
    const delivery = String(message!.headers['webhook-id']);
    expect(verified(message!, secret).type).toBe('webhook.test');
    const { stdout: deliveries } = await webhook('deliveries', id, '--state', 'delivered');
    expect(deliveries.split('\n')[1]?.split(/ {2,}/)).toEqual([
      ...[delivery, 'webhook.test', 'test', 'delivered', '1', '204'],
    ]);
    const rotated = await webhook('rotate', id);
    expect(rotated.stdout).toMatch(/^whsec_\S{44}\n$/);
    const replayed = await webhook('replay', id, delivery);
    expect(replayed.stdout).toBe(`${delivery} is sent again\n`);
    const [, again] = await bed.received(2);
    expect([verified(again!, secret), verified(again!, rotated.stdout.trim())]).toHaveLength(2);
    expect((await webhook('remove', id)).stdout).toBe(`${id} removed\n`);
    expect((await webhook('show', id)).code).toBe(2);
  });

  it('says what is wrong', async () => {
    expect(await webhook('add', 'https://10.0.0.1/')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('an address that webhooks may not reach'),
    });
    expect(await webhook('add', bed.url(), '--filter', 'Done')).toEqual({
      ...{ code: 2, stdout: '', stderr: 'gridgate: --filter Done is not key=value\n' },
    });
    bed.receiver.answer((_message, response) => void response.writeHead(500).end());
    const [id = ''] = (await webhook('add', bed.url())).stdout.split(' ');
    expect(await webhook('test', id)).toEqual({
      code: 1,
      stdout: 'failed: answered 500\n',
      stderr: 'gridgate: the test message was not delivered\n',
    });
  });
});

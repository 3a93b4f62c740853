import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { issueReceiverCa, startReceiver } from '../../../test/support/webhook-receiver.js';
import { HostsFile } from './hosts-file.js';
import { Sender } from './sender.js';
import { TargetResolver } from './target-resolver.js';

it('receivers are reached again when the file of their CAs can be read again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gridgate-sender-'));
  const ca = await issueReceiverCa();
  const receiver = await startReceiver(ca);
  try {
    const [file, away] = [join(directory, 'ca.pem'), join(directory, 'away.pem')];
    await writeFile(away, ca.certificatePem);
    const allow = { webhookAllow: ['127.0.0.1'], webhookResolvers: [] };
    const sender = new Sender(new TargetResolver(allow, new HostsFile()), {
      ...{ webhookTimeout: 10, webhookCa: file },
    });
    const url = `https://127.0.0.1:${receiver.port}/`;
    const send = () => sender.send({ url, headers: {}, body: '{}' }, new AbortController().signal);
    expect(await send()).toEqual({ isDelivered: false, error: 'the exchange failed (ENOENT)' });
    await rename(away, file);
    expect(await send()).toEqual({ isDelivered: true, status: 204 });
  } finally {
    await receiver.close();
    await rm(directory, { recursive: true });
  }
});

import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import type { RunOrder } from '#src/jobs/run/index.js';
import { RemoteRunService, type RemoteParts } from './remote-run-service.js';

it('takes an input sandbox that has the content of the job alone', async () => {
  const content = Buffer.from('an archive');
  const body = [content.subarray(0, 3), content.subarray(3)];
  const link = () => ({ request: () => Promise.resolve({ body }) });
  const service = new RemoteRunService({ link } as unknown as RemoteParts);
  const open = async (inputSandbox: string): Promise<string> =>
    text(await service.openInput({ jid: 1n, attempt: 1, inputSandbox } as unknown as RunOrder));
  expect(await open(createHash('sha256').update(content).digest('hex'))).toBe('an archive');
  await expect(open('0'.repeat(64))).rejects.toThrow('The input sandbox has other content');
});

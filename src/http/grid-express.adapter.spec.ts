import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import express, { type Express } from 'express';
import { messageClasses } from './grid-express.adapter.js';

/** What the application answers at the path; `first` sees the messages before it. */
async function answerOf(
  application: Express,
  path: string,
  first: RequestListener = () => undefined,
): Promise<string> {
  const server = createServer(messageClasses(application));
  server.on('request', first).on('request', application).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const call = request({ port, path, agent: false }).end();
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  const body = await text(answer);
  server.close();
  return body;
}

describe('messages of the server', () => {
  it('have the prototypes that the application would set before it sees them', async () => {
    const application = express();
    application.use((_incoming, answer) => void answer.send('seen'));
    let areKnown = false;
    const body = await answerOf(application, '/', (incoming, answer) => {
      areKnown =
        Object.getPrototypeOf(incoming) === application.request &&
        Object.getPrototypeOf(answer) === application.response;
    });
    expect({ body, areKnown }).toEqual({ body: 'seen', areKnown: true });
  });

  it.each([
    ['/nested/x', 'application nested nested application'],
    ['/x', 'application application'],
  ])(
    'have what express gives them, in the application and in a nested one: %s',
    async (path, expected) => {
      const application = express();
      const nested = express();
      const names = new Map([
        [application, 'application'],
        [nested, 'nested'],
      ]);
      application.use((incoming, answer, next) => {
        answer.locals['seen'] = [names.get(incoming.app as Express)];
        next();
      });
      nested.use((incoming, answer, next) => {
        const seen = answer.locals['seen'] as unknown[];
        seen.push(names.get(incoming.app as Express), names.get(answer.app as Express));
        next();
      });
      application.use('/nested', nested);
      application.use((incoming, answer) => {
        const seen = answer.locals['seen'] as unknown[];
        answer.send([...seen, names.get(incoming.app as Express)].join(' '));
      });
      expect(await answerOf(application, path)).toBe(expected);
    },
  );
});

import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { answerClientErrors } from './client-errors.js';

describe('a TLS handshake that does not come to its end in time', () => {
  it('ends the connection: an answer would be taken for that of a request still to come', async () => {
    const refused: string[] = [];
    const server = createServer({ handshakeTimeout: 100 });
    answerClientErrors(server, ({ code }) => refused.push(code));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => received.push(bytes)).on('error', () => undefined);
    await once(socket, 'close');
    expect({ received, refused }).toEqual({ received: [], refused: [] });
    server.close();
    await once(server, 'close');
  });
});

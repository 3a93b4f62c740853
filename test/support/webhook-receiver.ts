import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import {
  issueCertificate,
  type IssuedCertificate,
} from '../../src/x509/issuing/certificate-issuer.js';

/** A message as a receiver got it. */
export interface ReceivedMessage {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** How a receiver answers. */
export type Answering = (message: ReceivedMessage, response: ServerResponse) => void;

/** An https receiver on loopback. */
export interface WebhookReceiver {
  port: number;
  messages: ReceivedMessage[];
  /** Connections that it has accepted. */
  connections(): number;
  /** From now on it answers so. */
  answer(how: Answering): void;
  close(): Promise<void>;
}

/** A CA for receivers. */
export function issueReceiverCa(): Promise<IssuedCertificate> {
  return issueCertificate({ subject: '/CN=CA of receivers', purpose: 'ca' });
}

/** Starts a receiver with a certificate of the CA for these names and addresses; it answers 204. */
export async function startReceiver(
  ca: IssuedCertificate,
  { names = ['127.0.0.1'], host = '127.0.0.1', port = 0, notAfter }: ReceiverOptions = {},
): Promise<WebhookReceiver> {
  const { certificatePem: cert, keyPem: key } = await issueCertificate({
    ...{ subject: '/CN=receiver', purpose: 'server', issuer: ca, subjectAltNames: names },
    ...(notAfter && { notAfter }),
  });
  const messages: ReceivedMessage[] = [];
  let answering: Answering = (_message, response) => void response.writeHead(204).end();
  let accepted = 0;
  const open = new Set<Socket>();
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const body = JSON.parse(text) as ReceivedMessage['body'];
      const message = { path: request.url ?? '', headers: request.headers, text, body };
      messages.push(message);
      answering(message, response);
    });
  });
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    open.add(socket.on('error', () => undefined).on('close', () => open.delete(socket)));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    messages,
    connections: () => accepted,
    answer: (how) => void (answering = how),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

interface ReceiverOptions {
  names?: string[];
  host?: string;
  port?: number;
  notAfter?: Date;
}

/** The message judged by the library of Standard Webhooks. Throws when it is not signed with the secret. */
export function verified(message: ReceivedMessage, secret: string): ReceivedMessage['body'] {
  const headers = message.headers as Record<string, string>;
  return new Webhook(secret).verify(message.text, headers) as ReceivedMessage['body'];
}

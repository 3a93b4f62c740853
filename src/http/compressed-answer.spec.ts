import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { beginCompressible, LEAST_COMPRESSED, sendCompressible } from './compressed-answer.js';
import type { HttpResponse } from './messages.js';

const LONG = 'compressible '.repeat(1_000);

describe('an answer that may be compressed', () => {
  let server: Server;
  const calls: ClientRequest[] = [];
  afterEach(async () => {
    for (const call of calls.splice(0)) call.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function serve(answer: (response: HttpResponse) => void): Promise<void> {
    server = express()
      .use((_request, response) => answer(response))
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
  }

  async function call(
    headers: Record<string, string> = { 'accept-encoding': 'gzip' },
    method = 'GET',
  ): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const sent = request({ port, method, headers, agent: false }).end();
    calls.push(sent.on('error', () => undefined));
    const [message] = (await once(sent, 'response')) as [IncomingMessage];
    return message;
  }

  it.each([
    ['compressed for who takes it', { 'accept-encoding': 'gzip' }, LONG, 'gzip', 'Accept-Encoding'],
    ['as it is for others', {}, LONG, undefined, 'Accept-Encoding'],
    [
      'as it is where a cookie signs the request',
      { 'accept-encoding': 'gzip', cookie: 'a=b' },
      LONG,
      undefined,
      'Accept-Encoding',
    ],
    [
      'as it is when it is short',
      { 'accept-encoding': 'gzip' },
      'x'.repeat(LEAST_COMPRESSED - 1),
      undefined,
      undefined,
    ],
  ])('is sent whole, %s', async (_, headers: Record<string, string>, text, coding, vary) => {
    await serve((response) => sendCompressible(response, text));
    const answer = await call(headers);
    const bytes = await buffer(answer);
    expect(answer.headers['content-encoding']).toBe(coding);
    expect(answer.headers.vary).toBe(vary);
    expect(answer.headers['content-length']).toBe(String(bytes.length));
    expect((coding ? gunzipSync(bytes) : bytes).toString()).toBe(text);
  });

  it('has the same head for HEAD, except for a length that is not known', async () => {
    await serve((response) => sendCompressible(response, LONG));
    const coded = await call({ 'accept-encoding': 'gzip' }, 'HEAD');
    expect(coded.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(coded.headers['content-length']).toBeUndefined();
    const plain = await call({}, 'HEAD');
    expect(plain.headers['content-length']).toBe(String(LONG.length));
    expect((await buffer(coded)).length + (await buffer(plain)).length).toBe(0);
  });

  it('is compressed for a few at once, and sent as it is to the rest', async () => {
    await serve((response) => sendCompressible(response, LONG));
    const answers = await Promise.all(Array.from({ length: 40 }, () => call()));
    for (const answer of answers) {
      const bytes = await buffer(answer);
      const isCoded = answer.headers['content-encoding'] === 'gzip';
      expect((isCoded ? gunzipSync(bytes) : bytes).toString()).toBe(LONG);
    }
  });

  it('leaves in pieces: each can be read as soon as it is written', async () => {
    let more = (_text: string): void => undefined;
    await serve((response) => {
      const target = beginCompressible(response);
      target.write('first\n');
      more = (text) => target.end(text);
    });
    const answer = await call();
    const texts = answer.pipe(createGunzip()).setEncoding('utf8');
    expect(await once(texts, 'data')).toEqual(['first\n']);
    more('second\n');
    expect(await once(texts, 'data')).toEqual(['second\n']);
    expect(answer.headers['content-encoding']).toBe('gzip');
  });

  it('has begun with its first piece, so that a later fault cuts it', async () => {
    const seen: boolean[] = [];
    await serve((response) => {
      beginCompressible(response).write('x');
      seen.push(response.headersSent);
      response.destroy();
    });
    await expect(call()).rejects.toThrow();
    expect(seen).toEqual([true]);
  });

  it('takes no more than its reader does, and ends when the reader goes', async () => {
    const piece = randomBytes(65_536);
    let target: ReturnType<typeof beginCompressible> | undefined;
    let written = 0;
    let isFull = false;
    await serve((response) => {
      target = beginCompressible(response);
      const fill = (): void => {
        isFull = false;
        while (target?.destroyed === false && target.write(piece)) written += piece.length;
        isFull = true;
      };
      target.on('drain', fill);
      fill();
    });
    const answer = await call();
    answer.pause();
    for (let last = -1, same = 0; same < 200; await nextTurn()) {
      same = last === written && isFull ? same + 1 : 0;
      last = written;
    }
    expect(written).toBeLessThan(64 * 1024 * 1024); // what the buffers of two sockets hold
    const closed = once(target!, 'close').catch(() => undefined);
    answer.destroy();
    await closed;
    expect(target?.destroyed).toBe(true);
  });

  it('is written to the response itself for who takes no coding', async () => {
    const isItself: boolean[] = [];
    await serve((response) => {
      isItself.push(beginCompressible(response) === response);
      response.end(LONG);
    });
    const answer = await call({ 'accept-encoding': 'br' });
    expect((await buffer(answer)).toString()).toBe(LONG);
    expect(isItself).toEqual([true]);
  });
});

import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { compressedFiles } from './compressed-files.js';

const LONG = 'text '.repeat(1_000);
const HASHED = 'main.3f9a1c0d.js';

describe('the compressed forms of a folder', () => {
  let directory: string;
  let server: ReturnType<express.Express['listen']>;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'compressed-files-'));
    for (const name of ['index.html', 'own.html', HASHED, 'x.png', '.secret.txt']) {
      await writeFile(join(directory, name), LONG);
    }
    await writeFile(join(directory, 'short.css'), 'a{}');
    server = express()
      .use('/site', compressedFiles(directory, { without: ['own.html'] }))
      .use((_request, response) => void response.status(404).send('next'))
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true });
  });

  async function ask(path: string, method = 'GET'): Promise<(string | number | undefined)[]> {
    const { port } = server.address() as AddressInfo;
    const headers = { 'accept-encoding': 'gzip' };
    const call = request({ port, path, method, headers, agent: false }).end();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    await buffer(answer);
    const { 'content-encoding': coding, 'cache-control': cache } = answer.headers;
    return [answer.statusCode, coding, cache];
  }

  it('are handed out, the index for the folder itself', async () => {
    expect(await ask('/site/')).toEqual([200, 'gzip', undefined]);
    expect(await ask('/site/index.html?x=1')).toEqual([200, 'gzip', undefined]);
  });

  it('are kept for ever where the name has a hash of the content', async () => {
    const forEver = 'public, max-age=31536000, immutable';
    expect(await ask(`/site/${HASHED}`)).toEqual([200, 'gzip', forEver]);
  });

  it.each([
    ['the folder without its slash', '/site', 'GET'],
    ['what is not text', '/site/x.png', 'GET'],
    ['a short file', '/site/short.css', 'GET'],
    ['a hidden file', '/site/.secret.txt', 'GET'],
    ['a file that is left out', '/site/own.html', 'GET'],
    ['a file that is not there', '/site/nothing.js', 'GET'],
    ['a way out', '/site/..%2findex.html', 'GET'],
    ['another method', '/site/index.html', 'POST'],
  ])('leave to the next handler %s', async (_, path, method) => {
    expect(await ask(path, method)).toEqual([404, undefined, undefined]);
  });
});

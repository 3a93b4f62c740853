/**
 * A storage without rights: it keeps files of the directory in its plan, and tells their size and Adler-32. Says its port on standard
 * output.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const [, , root, adler] = process.argv;
const { Adler32 } = await import(adler);
const sums = new Map();

async function onRequest({ method, url, ...request }, body, response) {
  const path = join(root, decodeURIComponent(url));
  if (method === 'PUT') {
    const sum = new Adler32();
    await mkdir(dirname(path), { recursive: true });
    await pipeline(
      body,
      async function* (pieces) {
        for await (const piece of pieces) {
          sum.update(piece);
          yield piece;
        }
      },
      createWriteStream(path),
    );
    sums.set(path, sum.hex);
    return response.writeHead(201).end();
  }
  const { size } = await stat(path);
  if (method === 'DELETE') {
    await rm(path);
    return response.writeHead(204).end();
  }
  const digest = sums.get(path);
  if (request.headers['want-digest'] && digest) response.setHeader('Digest', `adler32=${digest}`);
  response.setHeader('Content-Length', size);
  if (method === 'HEAD') return response.end();
  return pipeline(createReadStream(path), response);
}

const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { method, url, headers } = request;
  onRequest({ method, url, headers }, request, response).catch(() => {
    if (!response.headersSent) response.writeHead(404);
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${server.address().port}\n`));

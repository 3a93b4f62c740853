import { pipeline } from 'node:stream/promises';
import type { Writable } from 'node:stream';
import { type HttpRequest, type HttpResponse, outOfTurn } from '#src/platform/index.js';
import { matchesTag, readRange } from './byte-range.js';
import type { ByteRange } from './sandbox.store.js';

/** What a download hands out. */
export interface Download {
  sizeBytes: number;
  /** Strong entity tag with its quotes. */
  tag: string;
  contentType: string;
  fileName: string;
  /** Writes the bytes of the range to the response and ends it. */
  send(range: ByteRange, target: Writable): Promise<void>;
}

/** Answers a download: 200, 206 for one range, 304 for a known tag; privately cacheable, never sniffed. */
export async function answerDownload(
  request: HttpRequest,
  response: HttpResponse,
  download: Download,
): Promise<void> {
  const { sizeBytes, tag } = download;
  response.setHeader('ETag', tag);
  response.setHeader('Cache-Control', 'private, max-age=86400');
  response.setHeader('Accept-Ranges', 'bytes');
  if (matchesTag(request.headers['if-none-match'], tag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  const condition = request.headers['if-range'];
  const isCurrent = condition === undefined || condition === tag;
  const range = isCurrent ? readRange(request.headers.range, sizeBytes) : undefined;
  response.statusCode = range ? 206 : 200;
  response.setHeader('Content-Type', download.contentType);
  response.setHeader('Content-Disposition', disposition(download.fileName));
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  if (range) response.setHeader('Content-Range', `bytes ${start}-${end}/${sizeBytes}`);
  response.setHeader('Content-Length', String(end - start + 1));
  if (request.method === 'HEAD' || sizeBytes === 0) {
    response.end();
    return;
  }
  try {
    await outOfTurn(request, () => download.send({ start, end }, response));
  } catch (error) {
    if (response.headersSent || response.destroyed) response.destroy();
    if (!isDisconnect(error)) throw error;
  }
}

/** Copies a stream to the response. */
export async function copyTo(source: NodeJS.ReadableStream, target: Writable): Promise<void> {
  await pipeline(source, target);
}

/** RFC 6266 with the RFC 8187 form for names beyond ASCII. */
function disposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const escaped = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const extended = ascii === fileName ? '' : `; filename*=UTF-8''${escaped}`;
  return `attachment; filename="${ascii}"${extended}`;
}

function isDisconnect(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'EPIPE' || code === 'ECONNRESET';
}

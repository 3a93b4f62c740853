import type { Writable } from 'node:stream';
import { type ByteRange, matchesTag, readRange } from './byte-range.js';
import { ClientDisconnected } from './client-signal.js';
import type { HttpRequest, HttpResponse } from './messages.js';

/** What a download hands out. */
export interface FileDownload {
  sizeBytes: number;
  /** Entity tag with its quotes; a weak one when `isGrowing`. */
  tag: string;
  /** It may change while somebody reads it: nobody is to keep it, and no part of it is joined to another. */
  isGrowing?: true;
  /** Other bytes may have its address later: who keeps it asks each time whether it is still the same. */
  isReplaceable?: true;
  contentType: string;
  /** When it was last written, if that is known; not later than now. */
  modifiedAt?: Date;
  fileName: string;
  /** Writes the bytes of the range to the response and ends it. */
  send(range: ByteRange, target: Writable): Promise<void>;
}

/**
 * Answers a download: 200, 206 for one range, 304 for a known tag; privately cacheable unless it grows, never sniffed, and
 * never shown in a page of ours.
 */
export async function answerDownload(
  request: HttpRequest,
  response: HttpResponse,
  download: FileDownload,
): Promise<void> {
  const { sizeBytes, tag } = download;
  response.setHeader('ETag', tag);
  const keeping = download.isReplaceable ? 'no-cache' : 'max-age=86400';
  response.setHeader('Cache-Control', download.isGrowing ? 'no-store' : `private, ${keeping}`);
  response.setHeader('Accept-Ranges', 'bytes');
  if (download.modifiedAt) response.setHeader('Last-Modified', download.modifiedAt.toUTCString());
  if (matchesTag(request.headers['if-none-match'], tag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  const condition = request.headers['if-range'];
  // The strong comparison of RFC 9110 §13.1.5: a weak tag is never the same.
  const isCurrent = condition === undefined || (condition === tag && !download.isGrowing);
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
    await download.send({ start, end }, response);
  } catch (error) {
    if (response.headersSent || response.destroyed) response.destroy();
    if (!isDisconnect(error)) throw error;
  }
}

/** The name of a file without the directories that it is in. */
export function plainName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** RFC 6266 with the RFC 8187 form for names beyond ASCII. */
export function disposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const escaped = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const extended = ascii === fileName ? '' : `; filename*=UTF-8''${escaped}`;
  return `attachment; filename="${ascii}"${extended}`;
}

function isDisconnect(error: unknown): boolean {
  if (error instanceof ClientDisconnected) return true;
  const code = (error as { code?: unknown }).code;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'EPIPE' || code === 'ECONNRESET';
}

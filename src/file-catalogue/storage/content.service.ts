import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { Audit } from '#src/audit/index.js';
import type { Principal } from '#src/auth/index.js';
import {
  answerDownload,
  clientSignal,
  plainName,
  type ByteRange,
  type HttpRequest,
  type HttpResponse,
} from '#src/http/index.js';
import { Problem } from '#src/kernel/index.js';
import { checksumOf } from '../namespace/entry-json.js';
import type { FileRow } from '../namespace/files.repository.js';
import { StorageAccess, type Placed } from './storage-access.service.js';
import { StorageElements } from './storage-elements.js';

const SIGNED_SECONDS = 300;

interface Wanted {
  path: string;
  size: number;
  places: readonly Placed[];
}

/** Gives the bytes of files, which it fetches where they lie; none are kept. */
@Injectable()
export class StorageContent {
  constructor(
    private readonly access: StorageAccess,
    private readonly elements: StorageElements,
    private readonly audit: Audit,
  ) {}

  /**
   * Answers with the bytes, or with a redirect to S3. Throws Problem 403, 404 and 409 as `POST access` does, 409 `storage.differs`,
   * and 503 that names the element; what ends too soon while it is sent is cut.
   */
  async answer(
    caller: { principal: Principal; request: HttpRequest; response: HttpResponse },
    path: string,
    through: boolean,
  ): Promise<void> {
    const { principal, request, response } = caller;
    const { file, places } = await this.access.placesToFetch(principal, path);
    const [first] = places;
    if (first?.element.kind === 's3' && !through && request.method === 'GET') {
      response.setHeader('Location', await this.access.signed(principal, first, SIGNED_SECONDS));
      response.statusCode = 307;
      response.end();
      this.noteGiven(request, path, first.element.name);
      return;
    }
    const wanted = { path, size: Number(file.size), places };
    if (request.method === 'HEAD' || wanted.size === 0) {
      await found(wanted, ({ element, pathThere }) => this.elements.stat(element, pathThere));
    }
    await answerDownload(request, response, {
      ...tagOf(file),
      sizeBytes: wanted.size,
      contentType: 'application/octet-stream',
      fileName: plainName(path),
      send: async (range, target) => {
        const { se, answer } = await this.open(wanted, range, request);
        this.noteGiven(request, path, se);
        await pipeline(answer.bytes, target);
      },
    });
  }

  private noteGiven(request: HttpRequest, path: string, se: string): void {
    this.audit.done('catalogue.content-given', { path, se }, { request });
  }

  private async open(wanted: Wanted, range: ByteRange, request: HttpRequest) {
    const isWhole = range.start === 0 && range.end === wanted.size - 1;
    const options = { ...(!isWhole && { range }), signal: clientSignal(request) };
    return found(wanted, async ({ element, pathThere }) => {
      const opened = await this.elements.open(element, pathThere, options);
      if (opened && opened.size !== wanted.size) opened.bytes.destroy();
      return opened;
    });
  }
}

/** What the first element answers that has as many bytes as the catalogue knows of. */
async function found<T extends { size: number }>(
  { path, size, places }: Wanted,
  ask: (place: Placed) => Promise<T | undefined>,
): Promise<{ se: string; answer: T }> {
  let away: Problem | undefined;
  let differs: Problem | undefined;
  for (const place of places) {
    const { name: se } = place.element;
    try {
      const answer = await ask(place);
      if (answer?.size === size) return { se, answer };
      const text = answer
        ? `${se} has ${answer.size} bytes of ${path}, which has ${size} in the catalogue`
        : `${se} does not have ${path}`;
      differs ??= new Problem('storage.differs', text);
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'service.unavailable')) throw error;
      away ??= error;
    }
  }
  throw away ?? differs ?? new Error('there is no place');
}

/** By checksum and size; where none is known, other bytes of the same size would have the same tag. */
function tagOf(file: FileRow): { tag: string; isGrowing?: true; isReplaceable?: true } {
  const [[kind, sum] = []] = Object.entries(checksumOf(file));
  if (kind === undefined) return { tag: `W/"${file.size}"`, isGrowing: true };
  const text = `${kind}-${sum}-${file.size}`.replaceAll(/[^\w.:+/=-]/g, '_');
  return { tag: `"${text}"`, isReplaceable: true };
}

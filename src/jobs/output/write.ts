import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { ClientDisconnected } from '#src/platform/index.js';

/** Writes a piece of an answer; done when the client can take more. Throws ClientDisconnected. */
export async function write(response: Writable, piece: Buffer | string): Promise<void> {
  if (response.destroyed || response.closed) throw new ClientDisconnected();
  if (response.write(piece)) return;
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  response.once('close', onClose);
  try {
    await once(response, 'drain', { signal: gone.signal });
  } catch (cause) {
    throw new ClientDisconnected(cause);
  } finally {
    response.off('close', onClose);
  }
}

import type { HttpResponse } from '#src/http/index.js';

/** Says in the head of an answer from where on the feed of the catalogue tells what changes after it. */
export function telling(response: HttpResponse): (position: string) => void {
  return (position) => void response.setHeader('Grid-Feed-Position', position);
}

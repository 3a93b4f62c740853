import { Readable } from 'node:stream';
import type { RequestOptions, Session } from '#src/http-client/index.js';

/** Told of every piece of a body that has been handed to the connection. */
export type Sent = (bytes: number) => void;

const NO_BODY = new Set([204, 205, 304]);

/**
 * `fetch` over a session of the client component, so that CA files, proxies and time limits are those of the
 * session. Bodies are streamed both ways; forms with files are never held in memory.
 */
export function sessionFetch(session: Session, sent: Sent): typeof fetch {
  return async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    const { body, headers } = encoded(init);
    const options: RequestOptions = {
      headers,
      stream: true,
      ...(body !== null && { data: counted(body, sent) }),
      ...(init.signal && { signal: init.signal }),
    };
    const answer = await session.request(init.method ?? 'GET', url, options);
    const status = answer.status_code;
    const stream = NO_BODY.has(status) ? null : Readable.toWeb(Readable.from(answer.body));
    if (stream === null) await answer.read();
    const fields = Object.fromEntries(answer.headers.entries());
    return new Response(stream as ReadableStream | null, { status, headers: fields });
  };
}

/** The platform's own encoding of a body: boundaries of forms, content types. */
function encoded(init: RequestInit): {
  body: ReadableStream<Uint8Array> | null;
  headers: Record<string, string>;
} {
  const { body, headers } = new Request('http://localhost', {
    method: 'POST',
    headers: init.headers ?? {},
    body: init.body ?? null,
  });
  return { body, headers: Object.fromEntries(headers) };
}

async function* counted(body: ReadableStream<Uint8Array>, sent: Sent): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    yield chunk;
    sent(chunk.length);
  }
}

/**
 * What sessions of the command verify servers with: the CA file of the login, else the machine's. A CA that a person
 * has named wins over bundles of the environment, which sessions of the client component would prefer.
 */
export function chosenCa(ca: string | undefined): string | true {
  if (ca === undefined) return true;
  for (const name of ['REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE']) delete process.env[name];
  return ca;
}

import type { IncomingMessage } from 'node:http';
import { Problem } from '#src/kernel/index.js';

/**
 * Headers that mean one thing. Node keeps the first of two and proxies often the last, so that each of them would see another
 * request (RFC 9112 §3.2, RFC 9110 §5.3). The parser refuses two lengths, and whoever reads it two proofs (`DPoP`).
 */
const ONCE = new Set(['host', 'authorization', 'content-type', 'origin']);

/**
 * What is wrong with the head of a request, whatever it asks for: 400 for a header that may stand there once and stands there
 * twice, 417 for an expectation other than `100-continue` (RFC 9110 §10.1.1). Undefined for a good one.
 */
export function headFault({ headers, rawHeaders }: IncomingMessage): Problem | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!ONCE.has(name)) continue;
    if (seen.has(name)) {
      return new Problem('request.invalid', `Send the header ${rawHeaders[at]} once`);
    }
    seen.add(name);
  }
  const { expect } = headers;
  if (expect === undefined || isContinue(expect)) return undefined;
  const detail =
    'The only expectation that can be met is 100-continue: leave the header Expect out';
  return new Problem('request.expectation-failed', detail);
}

function isContinue(expect: string): boolean {
  return expect.split(',').every((one) => one.trim().toLowerCase() === '100-continue');
}

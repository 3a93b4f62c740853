import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { AddressList } from '#src/kernel/index.js';

/**
 * Where a request comes from: the peer's address, or what a trusted proxy says in `X-Forwarded-For` (the last
 * address of the list that is not a trusted proxy itself). From any other address the header is ignored.
 */
export class ClientAddresses {
  private readonly trusted: AddressList;

  constructor(trustedProxies: readonly string[]) {
    this.trusted = AddressList.parse(trustedProxies);
  }

  /** True when the peer of the connection is a trusted proxy. */
  isBehindProxy(request: IncomingMessage): boolean {
    const peer = request.socket.remoteAddress;
    return peer !== undefined && this.trusted.size > 0 && this.trusted.contains(peer);
  }

  /** The client's address; '' when the connection is gone. */
  addressOf(request: IncomingMessage): string {
    const peer = request.socket.remoteAddress ?? '';
    if (!this.isBehindProxy(request)) return peer;
    const header = request.headers['x-forwarded-for'];
    const hops = String(header ?? '')
      .split(',')
      .map((hop) => hop.trim());
    for (const hop of hops.reverse()) {
      if (isIP(hop) === 0) return peer;
      if (!this.trusted.contains(hop)) return hop;
    }
    return peer;
  }
}

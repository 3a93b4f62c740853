import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './testbed.js';

/** A span as it arrives over OTLP/HTTP in JSON. */
export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  kind: number;
  attributes: Record<string, string | number>;
  isError: boolean;
}

interface WireSpan extends Omit<ReceivedSpan, 'attributes'> {
  attributes: { key: string; value: Record<string, string | number> }[];
  status?: { code?: number };
}

/** A collector of OpenTelemetry's protocol over HTTP that keeps what it gets. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly resources: Record<string, unknown>[] = [];
  /** Everything that has arrived, as text. */
  text = '';

  private constructor(private readonly server: Server) {}

  static async start(): Promise<OtlpReceiver> {
    const server = createServer();
    const receiver = new OtlpReceiver(server);
    server.on('request', (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      request.on('end', () => {
        if (request.url === '/v1/traces') receiver.take(body);
        response.writeHead(request.url === '/v1/traces' ? 200 : 404, {
          'content-type': 'application/json',
        });
        response.end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The first span that fits, once it has arrived. */
  span(fits: (span: ReceivedSpan) => boolean, what: string): Promise<ReceivedSpan> {
    return eventually(() => Promise.resolve(this.spans.find(fits)), what);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private take(body: string): void {
    this.text += body;
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: any[] };
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resources.push(plain(resource.attributes));
      for (const span of scopeSpans.flatMap((scope: any) => scope.spans as WireSpan[])) {
        const { name, traceId, spanId, parentSpanId, kind, attributes, status } = span as WireSpan;
        const isError = status?.code === 2;
        const rest = { attributes: plain(attributes), isError };
        this.spans.push({ name, traceId, spanId, parentSpanId, kind, ...rest });
      }
    }
  }
}

function plain(attributes: WireSpan['attributes']): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']),
  );
}

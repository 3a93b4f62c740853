import type { Clock } from '#src/kernel/index.js';
import {
  HttpError,
  InvalidResponseError,
  parseObject,
  type HttpCallOptions,
  type ProtocolAnswer,
  type ProtocolCall,
} from '#src/oauth2-client/index.js';
import { CachedDocument, type FetchedDocument } from './cached-document.js';
import { METADATA_REFRESH_RATE } from './constants.js';

/** Carries out a protocol call of the provider. */
export type CallProtocol = (call: ProtocolCall) => Promise<ProtocolAnswer>;

/** Metadata of an authorization server (RFC 8414 §2, OpenID Connect Discovery §3). */
export type ServerMetadata = Readonly<Record<string, unknown>>;

/** What the metadata of a provider depend on. */
export interface MetadataSource {
  issuer: string;
  /** An explicit place; the well-known places below the issuer otherwise. */
  metadataUrl: string | undefined;
  call: CallProtocol;
  clock: Clock;
}

const OPENID_CONFIGURATION = '/.well-known/openid-configuration';

/** Where metadata may be, in the order of trying; RFC 8414 §3.1 inserts before the path, OpenID appends. */
export function metadataUrls(issuer: string, explicit: string | undefined): string[] {
  if (explicit !== undefined && explicit !== '') return [explicit];
  if (issuer === '') return [];
  const bare = issuer.replace(/(?<!\/)\/+$/, '');
  const urls = [`${bare}${OPENID_CONFIGURATION}`];
  if (URL.canParse(bare)) {
    const { origin, pathname } = new URL(bare);
    const path = pathname === '/' ? '' : pathname;
    urls.push(`${origin}/.well-known/oauth-authorization-server${path}`);
  }
  return urls;
}

/** Equal to the letter, or with no more than the slash of an empty path between them. */
export function sameIssuer(left: string, right: string): boolean {
  if (left === right) return true;
  if (!URL.canParse(left) || !URL.canParse(right)) return false;
  const [a, b] = [new URL(left), new URL(right)];
  return a.pathname === '/' && a.href === b.href;
}

/** The issuer that an unnamed provider must have: what stands before the well-known path. */
function impliedIssuer(url: string): string | undefined {
  const at = url.indexOf(OPENID_CONFIGURATION);
  return at < 0 ? undefined : url.slice(0, at);
}

/** Seconds for which `Cache-Control` lets a document be kept; undefined when it does not say. */
export function maxAgeOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/\bno-(?:store|cache)\b/i.test(header)) return 0;
  const seconds = /\bmax-age=(\d{1,9})/i.exec(header)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** The metadata of one provider: fetched when needed, checked against the issuer, kept as the server allows. */
export class ProviderMetadata {
  readonly document: CachedDocument<ServerMetadata>;
  /** Settings of the HTTP request for the fetch under way (keywords of fetch_metadata). */
  #http: HttpCallOptions = {};

  constructor(private readonly source: MetadataSource) {
    this.document = new CachedDocument({
      fetch: (etag) => this.fetch(etag),
      refreshSeconds: METADATA_REFRESH_RATE,
      clock: source.clock,
    });
  }

  /** Whether there is a place to fetch from at all. */
  get hasSource(): boolean {
    return metadataUrls(this.source.issuer, this.source.metadataUrl).length > 0;
  }

  /** Fetches now; rejects when there is no document or it is not the issuer's. */
  refresh(http: HttpCallOptions = {}): Promise<ServerMetadata> {
    this.#http = http;
    return this.document.refresh().finally(() => {
      this.#http = {};
    });
  }

  private async fetch(etag: string | undefined): Promise<FetchedDocument<ServerMetadata>> {
    const { issuer, metadataUrl } = this.source;
    let missing: unknown = new InvalidResponseError('there is no place to fetch metadata from');
    for (const url of metadataUrls(issuer, metadataUrl)) {
      try {
        return await this.fetchFrom(url, etag);
      } catch (error) {
        if (!(error instanceof HttpError) || error.status !== 404) throw error;
        missing = error;
      }
    }
    throw missing;
  }

  private async fetchFrom(
    url: string,
    etag: string | undefined,
  ): Promise<FetchedDocument<ServerMetadata>> {
    const answer = await this.source.call({
      endpoint: 'metadata endpoint',
      method: 'GET',
      url,
      headers: {
        Accept: 'application/json',
        ...(etag === undefined ? {} : { 'If-None-Match': etag }),
      },
      http: this.#http,
      dpop: false,
    });
    const { headers, status_code: status } = answer.response;
    const maxAgeSeconds = maxAgeOf(headers.get('Cache-Control'));
    if (status === 304 && etag !== undefined) return { unchanged: true, maxAgeSeconds };
    const value = parseObject(answer);
    if (status !== 200) {
      throw new HttpError(`the metadata endpoint answers ${status}`, { status, hasJson: true });
    }
    this.checkIssuer(url, value['issuer']);
    return { value, etag: headers.get('ETag'), maxAgeSeconds };
  }

  /** RFC 8414 §3.3: metadata of another issuer must not be used. */
  private checkIssuer(url: string, issuer: unknown): void {
    const expected = this.source.issuer || impliedIssuer(url);
    if (typeof issuer !== 'string' || issuer === '') {
      throw new InvalidResponseError('the metadata name no issuer');
    }
    if (expected !== undefined && !sameIssuer(issuer, expected)) {
      throw new InvalidResponseError('the metadata are of another issuer');
    }
  }
}

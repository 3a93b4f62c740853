import { createHash } from 'node:crypto';
import { systemClock, type Clock } from '#src/kernel/index.js';
import { faultOfPath, pathEnd, pathsToTrust, type RevocationPolicy } from './certificate-path.js';
import {
  refuse,
  type AcceptedCertificate,
  type CertificateVerdict,
  type RefusedCertificate,
} from './certificate-verdict.js';
import { chainLink, type ChainLink } from '../certificate/chain-link.js';
import { findProxyHolder, proxyKind, type ProxyHolder } from './proxy-certificate.js';
import { TrustStore } from './trust-store.js';

const MAX_PRESENTED = 16;
const MAX_PATHS = 8;
const MAX_CACHED = 5_000;
/** Refusals that time alone does not change. */
const LASTING = new Set([
  'malformed',
  'untrusted',
  'wrong-purpose',
  'outside-namespace',
  'revoked',
  'proxy-not-allowed',
]);

/** Takes one line per event worth knowing: `info` for a change, `warn` for what somebody should look at. */
export type TrustLog = (line: string, level: 'info' | 'warn') => void;

/** Whom to trust, and how strictly. */
export interface TrustedAuthoritiesOptions {
  /** Directories in the grid layout, bundle files, or both. */
  paths: readonly string[];
  /** Accept RFC 3820 proxies; default false. */
  allowProxies?: boolean;
  /** Default: `{expired: 'refuse', missing: 'accept'}`. */
  revocation?: Partial<RevocationPolicy>;
  /** How often the files are looked at; default 3 seconds. */
  pollSeconds?: number;
  clock?: Clock;
  log?: TrustLog;
}

interface CachedVerdict {
  verdict: CertificateVerdict;
  checkedAt: number;
  until: number;
}

/**
 * Judges client certificates against the trusted CAs (RFC 5280 §6, RFC 3820 §4): chain, dates, purpose,
 * revocation. Files are re-read by a timer, never by a request; verdicts are remembered per presented chain
 * until the files change or the chain ends.
 */
export class TrustedAuthorities {
  readonly #store: TrustStore;
  readonly #policy: RevocationPolicy;
  readonly #clock: Clock;
  readonly #log: TrustLog;
  readonly #allowProxies: boolean;
  #cache = new Map<string, CachedVerdict>();
  /** Resumed TLS sessions show the leaf only; the rest of its chain is remembered by leaf. */
  readonly #chains = new Map<string, Buffer[]>();
  /** Hashes of leaves and of chains, as long as the connection lives that keeps them. */
  readonly #hashes = new WeakMap<object, string>();
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<boolean> | undefined;
  #lastFault = '';

  private constructor(options: TrustedAuthoritiesOptions) {
    this.#log = options.log ?? (() => undefined);
    this.#store = new TrustStore(options.paths, (line) => this.#log(line, 'warn'));
    this.#policy = { expired: 'refuse', missing: 'accept', ...options.revocation };
    this.#clock = options.clock ?? systemClock;
    this.#allowProxies = options.allowProxies ?? false;
  }

  /** Reads the files and starts to watch them. Throws TrustStoreError when a path cannot be read. */
  static async open(options: TrustedAuthoritiesOptions): Promise<TrustedAuthorities> {
    const authorities = new TrustedAuthorities(options);
    await authorities.refresh();
    if (authorities.size === 0)
      authorities.#log('trusted CAs: there is none, no certificate is accepted', 'warn');
    const milliseconds = (options.pollSeconds ?? 3) * 1_000;
    authorities.#timer = setInterval(() => void authorities.#poll(), milliseconds);
    authorities.#timer.unref();
    return authorities;
  }

  /** Number of trusted CAs. */
  get size(): number {
    return this.#store.size;
  }

  /** What somebody should look at in the files: broken policies, lists of nobody. One sentence each. */
  get notes(): readonly string[] {
    return this.#store.notes;
  }

  /** Looks at the files now; true when something has changed. */
  async refresh(): Promise<boolean> {
    this.#refreshing ??= this.#store.refresh().finally(() => (this.#refreshing = undefined));
    const hasChanged = await this.#refreshing;
    if (hasChanged) this.#cache = new Map();
    return hasChanged;
  }

  /** Stops watching. */
  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * Judges what a client has presented: DER certificates, its own first, in any order after that. Never
   * throws. An empty list is refused as `none`.
   */
  verify(presented: readonly Buffer[]): CertificateVerdict {
    const [leaf] = presented;
    if (leaf === undefined) return refuse('none', 'no client certificate was presented');
    const chain = presented.length === 1 ? (this.#rememberedChain(leaf) ?? presented) : presented;
    const key = this.#keyOf(chain);
    const now = this.#clock.now();
    const cached = this.#cache.get(key);
    if (cached && now >= cached.checkedAt && now <= cached.until) return cached.verdict;
    const { verdict, until } = this.#judge(chain, now);
    remember(this.#cache, key, { verdict, checkedAt: now, until });
    if (verdict.ok && chain.length > 1) remember(this.#chains, this.#keyOf([leaf]), [...chain]);
    return verdict;
  }

  async #poll(): Promise<void> {
    try {
      if (await this.refresh()) {
        this.#log(`trusted CAs: read again, there are ${this.size}`, 'info');
      }
      this.#lastFault = '';
    } catch (error) {
      // The last good content stays in use; told once, not every few seconds.
      const fault = (error as Error).message;
      if (fault !== this.#lastFault) this.#log(fault, 'warn');
      this.#lastFault = fault;
    }
  }

  #rememberedChain(leaf: Buffer): readonly Buffer[] | undefined {
    return this.#chains.size > 0 ? this.#chains.get(this.#keyOf([leaf])) : undefined;
  }

  /** The hash of a chain; of one that a connection keeps, and of its leaf, it is made once. */
  #keyOf(chain: readonly Buffer[]): string {
    const kept = chain.length === 1 ? (chain[0] as Buffer) : chain;
    const known = this.#hashes.get(kept);
    if (known !== undefined) return known;
    const hash = hashOf(Buffer.concat(chain));
    this.#hashes.set(kept, hash);
    return hash;
  }

  #judge(chain: readonly Buffer[], now: number): { verdict: CertificateVerdict; until: number } {
    const links = readLinks(chain);
    if (!Array.isArray(links)) return lasting(links, now);
    const found = this.#endEntity(links, now);
    if (!found.ok) return lasting(found, now);
    const { holder, proxies } = found;
    let first: RefusedCertificate | undefined;
    let tried = 0;
    for (const path of pathsToTrust(holder, links, this.#store)) {
      const fault = faultOfPath(path, { store: this.#store, policy: this.#policy, now });
      if (fault === undefined) {
        const ends = [pathEnd(path, this.#store), ...proxies.map((link) => link.fields.notAfter)];
        return { verdict: this.#accept(found, path), until: Math.min(...ends) };
      }
      first ??= fault;
      if (++tried === MAX_PATHS) break;
    }
    const issuer = holder.certificate.issuer.replaceAll('\n', ', ');
    const message = `${holder.subject} leads to no trusted CA (its issuer: ${issuer})`;
    return lasting(first ?? refuse('untrusted', message), now);
  }

  #endEntity(links: ChainLink[], now: number): ProxyHolder | RefusedCertificate {
    const [leaf] = links as [ChainLink];
    if (proxyKind(leaf) === undefined) {
      return { ok: true, holder: leaf, proxies: [], isLimited: false };
    }
    if (this.#allowProxies) return findProxyHolder(links, now);
    const message = `${leaf.subject} is a proxy certificate (RFC 3820); proxies are not accepted here unless they are switched on`;
    return refuse('proxy-not-allowed', message);
  }

  #accept(found: ProxyHolder, path: ChainLink[]): AcceptedCertificate {
    const { holder, proxies, isLimited } = found;
    const [, issuer] = path;
    const all = [...proxies, ...path];
    return {
      ok: true,
      subject: holder.subject,
      issuer: issuer && this.#store.isTrusted(issuer) ? issuer.subject : undefined,
      fingerprint: holder.fingerprint,
      notAfter: new Date(Math.min(...all.map((link) => link.fields.notAfter))),
      chain: all.map((link) => link.certificate),
      ...(proxies.length > 0 ? { proxy: { depth: proxies.length, isLimited } } : {}),
    };
  }
}

function readLinks(chain: readonly Buffer[]): ChainLink[] | RefusedCertificate {
  if (chain.length > MAX_PRESENTED) {
    return refuse('malformed', `${chain.length} certificates were presented`);
  }
  try {
    return chain.map(chainLink);
  } catch (error) {
    return refuse('malformed', `a certificate cannot be read: ${(error as Error).message}`);
  }
}

function lasting(
  verdict: RefusedCertificate,
  now: number,
): { verdict: CertificateVerdict; until: number } {
  return { verdict, until: LASTING.has(verdict.reason) ? Infinity : now - 1 };
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64');
}

/** The oldest entry goes when there are too many. */
function remember<T>(cache: Map<string, T>, key: string, value: T): void {
  cache.delete(key);
  cache.set(key, value);
  if (cache.size <= MAX_CACHED) return;
  const oldest = cache.keys().next();
  if (!oldest.done) cache.delete(oldest.value);
}

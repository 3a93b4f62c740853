import { Inject, Injectable } from '@nestjs/common';
import { parse as parseCookies } from 'cookie';
import {
  constantTimeEqual,
  OAuthProblem,
  randomToken,
  sha256,
  type Clock,
} from '#src/kernel/index.js';
import { Audit, CLOCK, type HttpRequest, type HttpResponse } from '#src/platform/index.js';
import { RegistryService, type User } from '#src/registry/index.js';
import { CertificateUsers } from '../../access/certificate-users.js';
import type { BrowserSessionEntity, LoginMethod } from './browser-session.entity.js';
import { BrowserSessionsRepository } from './browser-sessions.repository.js';

const COOKIE = '__Host-gridgate';
const SIGNED_IN_SECONDS = 8 * 3600;
const ANONYMOUS_SECONDS = 3600;

/** A visit of a page: the browser's session, and who is signed in. */
export interface Visit {
  session: BrowserSessionEntity;
  user: User | undefined;
  /** True when the browser showed a certificate that was not accepted. */
  isCertificateRefused: boolean;
}

/** Browser sessions: a `__Host-` cookie, its hash in the database, a new one whenever somebody signs in. */
@Injectable()
export class BrowserSessionsService {
  @Inject(CLOCK) private readonly clock!: Clock;

  constructor(
    private readonly sessions: BrowserSessionsRepository,
    private readonly certificates: CertificateUsers,
    private readonly registry: RegistryService,
    private readonly audit: Audit,
  ) {}

  /**
   * The visit that a page belongs to. A browser with an accepted certificate is signed in by it, unless it has
   * signed in through an identity provider; a browser without session gets one.
   */
  async visit(request: HttpRequest, response: HttpResponse): Promise<Visit> {
    const session = await this.current(request);
    const shown = await this.certificateUser(request);
    const user = await this.userOf(session, shown.user);
    if (session && user && session.method === 'provider') {
      return { session, user, isCertificateRefused: false };
    }
    if (shown.user) {
      const isSame = session?.user === shown.user.name;
      const kept = isSame
        ? session
        : await this.signIn(response, shown.user, 'certificate', session);
      if (!isSame) {
        const actor = { user: shown.user.name };
        this.audit.done('user.signed-in', { way: 'certificate' }, { request, actor });
      }
      return { session: kept, user: shown.user, isCertificateRefused: false };
    }
    const isAnonymous = session !== undefined && session.user === null;
    const anonymous = isAnonymous ? session : await this.start(response, null, null);
    return { session: anonymous, user: undefined, isCertificateRefused: shown.isRefused };
  }

  /** The visit of a form that was sent. Throws 403 when the form is not one of ours for this browser. */
  async visitOfForm(
    request: HttpRequest,
    response: HttpResponse,
    csrfToken: string | undefined,
  ): Promise<Visit> {
    const before = await this.current(request);
    if (!before || !constantTimeEqual(csrfToken ?? '', before.csrfToken)) throw forged();
    const visit = await this.visit(request, response);
    if (visit.session.idHash !== before.idHash) throw forged(); // somebody else has signed in meanwhile
    return visit;
  }

  /** Signs a user in with a new session; the old one ends (no session fixation). */
  async signIn(
    response: HttpResponse,
    user: User,
    method: LoginMethod,
    old: BrowserSessionEntity | undefined,
  ): Promise<BrowserSessionEntity> {
    if (old) await this.sessions.remove(old.idHash);
    return this.start(response, user.name, method);
  }

  /** Ends the session. */
  async signOut(response: HttpResponse, session: BrowserSessionEntity): Promise<void> {
    await this.sessions.remove(session.idHash);
    setCookie(response, '', 0);
  }

  /** The session of the browser's cookie. */
  async current(request: HttpRequest): Promise<BrowserSessionEntity | undefined> {
    const id = parseCookies(request.headers.cookie ?? '')[COOKIE];
    if (id === undefined || id === '') return undefined;
    return this.sessions.find(sha256(id), new Date(this.clock.now()));
  }

  private async userOf(
    session: BrowserSessionEntity | undefined,
    shown: User | undefined,
  ): Promise<User | undefined> {
    if (!session?.user) return shown;
    return (await this.registry.current()).userByName(session.user);
  }

  private async certificateUser(
    request: HttpRequest,
  ): Promise<{ user: User | undefined; isRefused: boolean }> {
    try {
      const certified = await this.certificates.certifiedIfAny(request);
      // Who signs in here gives applications rights that a limited proxy has not (ADR 0350).
      if (certified?.isLimited) return { user: undefined, isRefused: true };
      return { user: certified?.user, isRefused: false };
    } catch (error) {
      if (error instanceof OAuthProblem && error.error === 'invalid_client') {
        return { user: undefined, isRefused: true };
      }
      throw error;
    }
  }

  private async start(
    response: HttpResponse,
    user: string | null,
    method: LoginMethod | null,
  ): Promise<BrowserSessionEntity> {
    const id = randomToken();
    const seconds = user === null ? ANONYMOUS_SECONDS : SIGNED_IN_SECONDS;
    const now = this.clock.now();
    const session: BrowserSessionEntity = {
      idHash: sha256(id),
      user,
      method,
      csrfToken: randomToken(),
      createdAt: new Date(now),
      expiresAt: new Date(now + seconds * 1000),
    };
    await this.sessions.add(session);
    setCookie(response, id, seconds);
    return session;
  }
}

function setCookie(response: HttpResponse, value: string, seconds: number): void {
  const parts = ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax', `Max-Age=${seconds}`];
  response.setHeader('Set-Cookie', `${COOKIE}=${value}; ${parts.join('; ')}`);
}

function forged(): OAuthProblem {
  return new OAuthProblem('access_denied', 'This form is no longer valid; please start again', {
    status: 403,
  });
}

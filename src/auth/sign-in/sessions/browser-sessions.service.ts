import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { parse as parseCookies } from 'cookie';
import {
  constantTimeEqual,
  OAuthProblem,
  randomToken,
  sha256,
  type Clock,
  CLOCK,
} from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { RegistryService, type User } from '#src/registry/index.js';
import { AUTHENTICATION_CLASSES, type Authentication } from '../../protocol/authentication.js';
import { CertificateUsers } from '../../access/certificate-users.js';
import { invalidForm } from '../../protocol/oauth-errors.js';
import { DemoSignIn } from '../demo/demo-sign-in.js';
import type { BrowserSessionEntity, LoginMethod } from './browser-session.entity.js';
import { BrowserSessionsRepository } from './browser-sessions.repository.js';

const COOKIE = '__Host-gridgate';
const SIGNED_IN_SECONDS = 8 * 3600;
const ANONYMOUS_SECONDS = 3600;

/**
 * Stands in a browser that was signed out, for as long as browsers keep one: it will show its certificate again, but its
 * person has to confirm that it is still theirs.
 */
const SIGNED_OUT = '__Host-gridgate-signed-out';
const SIGNED_OUT_SECONDS = 400 * 86_400;

/** The session of the browser that asks for a page, and who is signed in. */
export interface SessionState {
  session: BrowserSessionEntity;
  user: User | undefined;
  /** Whose certificate the browser shows, whoever is signed in; also of a browser that was signed out. */
  certificateUser: User | undefined;
  /** True when the browser showed a certificate that was not accepted. */
  isCertificateRefused: boolean;
  /** Users as whom the browser may go on without any proof, in the demo. */
  demoUsers: readonly string[];
}

/** Somebody has proved who they are. */
export interface SignIn {
  user: User;
  method: LoginMethod;
  /** When, where a provider says that it was earlier than now. */
  authenticatedAt?: Date | undefined;
  /** Own path that asked for it. */
  returnTo?: string;
}

/** How and when the user of a session signed in; undefined for a session without user. */
export function authenticationOf({
  method,
  authenticatedAt,
  sid,
}: BrowserSessionEntity): Authentication | undefined {
  if (method === null || authenticatedAt === null || sid === null) return undefined;
  return { at: authenticatedAt, acr: AUTHENTICATION_CLASSES[method], sid };
}

/** What a form brings back from its page, against forged ones. */
export interface CsrfForm {
  csrf: string;
}

/** Browser sessions: a `__Host-` cookie, its hash in the database, a new one whenever somebody signs in. */
@Injectable()
export class BrowserSessionsService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly sessions: BrowserSessionsRepository,
    private readonly certificates: CertificateUsers,
    private readonly registry: RegistryService,
    private readonly audit: Audit,
    private readonly demo: DemoSignIn,
  ) {}

  /**
   * Resumes the session of the browser that asks for a page. A browser with an accepted certificate is signed in by it,
   * unless it has signed in through an identity provider or was signed out; a browser without session gets one.
   */
  async resume(request: HttpRequest, response: HttpResponse): Promise<SessionState> {
    const session = await this.current(request);
    const shown = await this.certificateUser(request);
    const user = await this.userOf(session, shown.user);
    const demoUsers = await this.demo.choices(request);
    if (session && user && session.method === 'provider') {
      return { session, user, certificateUser: shown.user, isCertificateRefused: false, demoUsers };
    }
    if (shown.user && !cookiesOf(request)[SIGNED_OUT]) {
      const isSame = session?.user === shown.user.name;
      const kept = isSame
        ? session
        : await this.signIn(response, { user: shown.user, method: 'certificate' }, session);
      if (!isSame) {
        const actor = { user: shown.user.name };
        this.audit.done('user.signed-in', { way: 'certificate' }, { request, actor });
      }
      const { user: certificateUser } = shown;
      return {
        session: kept,
        user: certificateUser,
        certificateUser,
        isCertificateRefused: false,
        demoUsers,
      };
    }
    const isAnonymous = session !== undefined && session.user === null;
    const anonymous = isAnonymous ? session : await this.start(response);
    return {
      session: anonymous,
      user: undefined,
      certificateUser: shown.user,
      isCertificateRefused: shown.isRefused,
      demoUsers,
    };
  }

  /** Like `resume`, for a form that was sent. Throws 403 when it is not one of ours for this browser. */
  async resumeByForm(
    request: HttpRequest,
    response: HttpResponse,
    form: CsrfForm,
  ): Promise<SessionState> {
    const before = await this.current(request);
    if (!before || !constantTimeEqual(form.csrf, before.csrfToken)) throw invalidForm();
    const state = await this.resume(request, response);
    if (state.session.idHash !== before.idHash) throw invalidForm(); // somebody else has signed in meanwhile
    return state;
  }

  /** Signs a user in with a new session; the old one ends (no session fixation). */
  async signIn(
    response: HttpResponse,
    signIn: SignIn,
    old: BrowserSessionEntity | undefined,
  ): Promise<BrowserSessionEntity> {
    const session = await this.start(response, signIn);
    if (old) await this.sessions.remove(old.idHash);
    return session;
  }

  /** What a sign-in was asked for is decided: the next request that asks for one gets another. */
  async settle(session: BrowserSessionEntity): Promise<void> {
    if (session.signedInFor !== null) await this.sessions.settle(session.idHash);
  }

  /** Ends the session; from now on a certificate signs nobody in here before its person has confirmed it. */
  async signOut(response: HttpResponse, session: BrowserSessionEntity): Promise<void> {
    await this.sessions.remove(session.idHash);
    response.setHeader('Set-Cookie', [sessionCookie('', 0), signedOutCookie(SIGNED_OUT_SECONDS)]);
  }

  /**
   * Whether a certificate may sign its user in without a page. Not in a frame that brings no session: in one of another site
   * browsers send their certificate, but no cookie of ours, so that a browser that was signed out looks like any other.
   */
  async maySignInSilently(request: HttpRequest): Promise<boolean> {
    const destination = request.headers['sec-fetch-dest'] ?? 'document';
    return destination === 'document' || (await this.current(request)) !== undefined;
  }

  /** Whether the request comes with a session, good or not. */
  hasCookie(request: HttpRequest): boolean {
    return Boolean(cookiesOf(request)[COOKIE]);
  }

  /** The session of the browser's cookie. */
  async current(request: HttpRequest): Promise<BrowserSessionEntity | undefined> {
    const id = cookiesOf(request)[COOKIE];
    if (id === undefined || id === '') return undefined;
    return this.sessions.find(sha256(id), new Date(this.clock.now()));
  }

  private async userOf(
    session: BrowserSessionEntity | undefined,
    shown: User | undefined,
  ): Promise<User | undefined> {
    if (!session?.user) return shown;
    const registry = await this.registry.current();
    if (registry.hasLeftSince(session.user, session.createdAt.getTime() / 1000)) return undefined;
    return registry.userByName(session.user);
  }

  private async certificateUser(
    request: HttpRequest,
  ): Promise<{ user: User | undefined; isRefused: boolean }> {
    try {
      const certified = await this.certificates.certifiedIfAny(request);
      // Who signs in here gives applications rights that a limited proxy has not.
      if (certified?.isLimited) return { user: undefined, isRefused: true };
      return { user: certified?.user, isRefused: false };
    } catch (error) {
      if (error instanceof OAuthProblem && error.error === 'invalid_client') {
        return { user: undefined, isRefused: true };
      }
      throw error;
    }
  }

  private async start(response: HttpResponse, signIn?: SignIn): Promise<BrowserSessionEntity> {
    const id = randomToken();
    const seconds = signIn ? SIGNED_IN_SECONDS : ANONYMOUS_SECONDS;
    const now = this.clock.now();
    const session: BrowserSessionEntity = {
      idHash: sha256(id),
      user: signIn?.user.name ?? null,
      method: signIn?.method ?? null,
      csrfToken: randomToken(),
      sid: signIn ? randomUUID() : null,
      authenticatedAt: signIn ? earlier(signIn.authenticatedAt, new Date(now)) : null,
      signedInFor: signIn?.returnTo === undefined ? null : sha256(signIn.returnTo),
      createdAt: new Date(now),
      expiresAt: new Date(now + seconds * 1000),
    };
    await this.sessions.add(session);
    const isConfirmed = signIn && cookiesOf(response.req)[SIGNED_OUT];
    const cookies = [sessionCookie(id, seconds), ...(isConfirmed ? [signedOutCookie(0)] : [])];
    response.setHeader('Set-Cookie', cookies);
    return session;
  }
}

/** A provider's clock may be fast. */
function earlier(said: Date | undefined, now: Date): Date {
  return said !== undefined && said < now ? said : now;
}

function cookiesOf(request: Pick<HttpRequest, 'headers'>): Record<string, string | undefined> {
  return parseCookies(request.headers.cookie ?? '');
}

function sessionCookie(value: string, seconds: number): string {
  return cookie(`${COOKIE}=${value}`, 'Lax', seconds);
}

/** Goes into frames of other sites as well, where browsers let any cookie in; it says nothing about anybody. */
function signedOutCookie(seconds: number): string {
  return cookie(`${SIGNED_OUT}=${seconds > 0 ? 1 : ''}`, 'None', seconds);
}

function cookie(pair: string, sameSite: 'Lax' | 'None', seconds: number): string {
  return `${pair}; Path=/; Secure; HttpOnly; SameSite=${sameSite}; Max-Age=${seconds}`;
}

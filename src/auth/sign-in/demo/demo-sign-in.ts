import { Inject, Injectable } from '@nestjs/common';
import { parse as parseCookies } from 'cookie';
import { constantTimeEqual } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { DEMO_REGISTRY, RegistryService, type User } from '#src/registry/index.js';

/** Set by the link that `npm run demo` prints (app/portal-site.ts). */
export const DEMO_COOKIE = '__Host-gridgate-demo';
const PREFIX = 'demo-';

/**
 * In the demo whoever has its link may go on as one of its users, without a certificate. It is on only while GRID_DEMO_SIGN_IN is
 * set, which the configuration refuses beyond this machine's own demo.
 */
@Injectable()
export class DemoSignIn {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly registry: RegistryService,
  ) {}

  /** Names of users as whom this browser may go on: those of the demo, as long as they are what the demo has made them. */
  async choices(request: HttpRequest): Promise<string[]> {
    const { demoSignIn: key } = this.config;
    const shown = parseCookies(request.headers.cookie ?? '')[DEMO_COOKIE];
    if (key === undefined || shown === undefined || !constantTimeEqual(shown, key)) return [];
    const registry = await this.registry.current();
    return DEMO_REGISTRY.users
      .filter(({ name, certificates }) => {
        const subjects = registry.userByName(name)?.certificates.map(({ subject }) => subject);
        return subjects?.length === 1 && subjects[0] === certificates[0]?.subject;
      })
      .map(({ name }) => name);
  }

  /** The user whom a form of the sign-in page names in the place of a provider; undefined for none who may be. */
  async userOf(request: HttpRequest, provider: string): Promise<User | undefined> {
    if (!provider.startsWith(PREFIX)) return undefined;
    const name = provider.slice(PREFIX.length);
    const isOffered = (await this.choices(request)).includes(name);
    return isOffered ? (await this.registry.current()).userByName(name) : undefined;
  }
}

/** What stands in the place of a provider in the path of a form. */
export function demoProvider(user: string): string {
  return `${PREFIX}${user}`;
}

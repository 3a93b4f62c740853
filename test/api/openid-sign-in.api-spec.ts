import { claimsOf, openidTokens } from '../support/openid.js';
import { formOf, formsOf, PageVisitor, redirectOf } from '../support/page-visitor.js';
import { authorizePath, CALLBACK, exchange, renew } from '../support/portal.js';
import {
  eventually,
  startGrid,
  type Answer,
  type Grid,
  type Identity,
} from '../support/testbed.js';

const WEB = 'https://web.example/callback';
const OPENID = { scope: 'openid jobs:read', nonce: 'n-1' };

describe('what an authorization request wants of the sign-in', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
    await grid.sql(
      `insert into registry_application
        (id, position, name, redirect_uris, confidential, origin)
       values ('web', 9, 'Web', '{${WEB}}', false, 'command')`,
    );
  });
  afterAll(async () => grid?.remove());

  const visitor = async (name: Identity): Promise<PageVisitor> =>
    new PageVisitor(await grid.certificate(name));
  /** Of an application that has a web address of its own. */
  const webPath = (parameters: Record<string, string> = {}): string =>
    authorizePath({ client_id: 'web', redirect_uri: WEB, ...OPENID, ...parameters });
  const exchanged = async (answer: Answer): Promise<Record<string, any>> => {
    const { code } = redirectOf(answer).parameters;
    const form = { client_id: 'web', redirect_uri: WEB };
    const { status, body } = await exchange(grid, code, form);
    expect(status).toBe(200);
    return claimsOf((body as any).id_token);
  };
  const errorOf = (answer: Answer): unknown => {
    const { place, parameters } = redirectOf(answer);
    const { error, state, iss } = parameters;
    return [answer.status, place, error, state, iss];
  };
  const hourAgo = (user: string): Promise<unknown> =>
    grid.sql(
      `update browser_session set authenticated_at = authenticated_at - interval '1 hour'
       where user_name = $1`,
      [user],
    );

  describe('prompt=none', () => {
    const silent = webPath({ prompt: 'none' });

    it('is answered at once once the user has allowed as much, and shows no page before', async () => {
      const alice = await visitor('alice');
      expect(errorOf(await alice.open(silent))).toEqual([
        302,
        WEB,
        'consent_required',
        'xyz',
        grid.url,
      ]);
      const page = await alice.open(webPath());
      const first = await exchanged(await alice.send(formOf(page.body), { decision: 'allow' }));
      const again = await alice.open(silent);
      expect(redirectOf(again)).toEqual({
        place: WEB,
        parameters: { code: expect.any(String), state: 'xyz', iss: grid.url },
      });
      const second = await exchanged(again);
      expect(second).toMatchObject({
        sub: first['sub'],
        sid: first['sid'],
        auth_time: first['auth_time'],
      });
    });

    it.each([
      ['more scopes', { scope: 'openid jobs:read jobs:submit' }],
      ['more about the user', { scope: 'openid email jobs:read' }],
      ['all that a group may', { scope: '' }],
      ['another group', { group: 'grid_share' }],
      ['another setup', { setup: 'Test' }],
    ])('is consent_required for %s than the user has allowed', async (_what, parameters) => {
      const bob = await visitor('bob');
      const page = await bob.open(webPath());
      const form = formOf(page.body);
      await exchanged(
        await bob.send(form, { group: 'grid_user', setup: 'Prod', decision: 'allow' }),
      );
      const answer = await bob.open(webPath({ prompt: 'none', ...parameters }));
      expect(errorOf(answer)).toEqual([302, WEB, 'consent_required', 'xyz', grid.url]);
    });

    it('is consent_required when the user has withdrawn', async () => {
      const carol = await visitor('carol');
      const page = await carol.open(webPath());
      await exchanged(await carol.send(formOf(page.body), { decision: 'allow' }));
      expect(redirectOf(await carol.open(silent)).parameters['code']).toBeDefined();
      const applications = await carol.open('/oauth2/applications');
      await carol.send(formOf(applications.body));
      expect(redirectOf(await carol.open(silent)).parameters['error']).toBe('consent_required');
    });

    it('is consent_required when the membership has ended since, though there is one again', async () => {
      const allowed = async (): Promise<PageVisitor> => {
        const carol = await visitor('carol');
        const { body } = await carol.open(webPath());
        await exchanged(await carol.send(formOf(body), { group: 'grid_user', decision: 'allow' }));
        return carol;
      };
      const carol = await allowed();
      expect(redirectOf(await carol.open(silent)).parameters['code']).toBeDefined();
      // The application and what was allowed are from before the end of the membership, the session is from after it.
      await grid.sql(`update registry_application set created_at = created_at - interval '1 day'`);
      await grid.sql(
        `update authorization_grant set created_at = created_at - interval '2 hours'
          where user_name = 'carol'`,
      );
      await grid.sql(
        `insert into registry_departure (user_name, group_name, left_at)
          values ('carol', 'grid_user', now() - interval '1 hour')`,
      );
      await grid.sql(`update registry_user set position = position where name = 'carol'`);
      await eventually(
        async () => redirectOf(await carol.open(silent)).parameters['error'] === 'consent_required',
        'what was allowed before to be forgotten',
      );
      const again = await allowed();
      expect(redirectOf(await again.open(silent)).parameters['code']).toBeDefined();
    });

    it('is consent_required for another application that has the client_id of a removed one', async () => {
      const register = (when: string): Promise<unknown> =>
        grid.sql(
          `insert into registry_application
            (id, position, name, redirect_uris, confidential, origin, created_at)
           values ('heir', 9, 'Heir', '{${WEB}}', false, 'command', ${when})`,
        );
      const path = (more: Record<string, string> = {}): string =>
        webPath({ client_id: 'heir', scope: 'jobs:read offline_access', ...more });
      await register('now()');
      const carol = await visitor('carol');
      const page = await eventually(async () => {
        const { status, body } = await carol.open(path());
        return status === 200 && body;
      }, 'the application');
      const { code } = redirectOf(await carol.send(formOf(page), { decision: 'allow' })).parameters;
      const form = { client_id: 'heir', redirect_uri: WEB };
      const { body: tokens } = await exchange(grid, code, form);
      const codeOf = async (): Promise<unknown> =>
        redirectOf(await carol.open(path({ prompt: 'none' }))).parameters['code'];
      const works = async (): Promise<number> =>
        (await grid.bearer(tokens.access_token).get('/jobs')).status;
      expect([typeof (await codeOf()), await works()]).toEqual(['string', 200]);
      await grid.sql("delete from registry_application where id = 'heir'");
      await eventually(async () => (await works()) === 401, 'the application to be gone');
      await register("now() + interval '2 minutes'");
      const asked = await eventually(async () => {
        const answer = await carol.open(path({ prompt: 'none' }));
        return answer.status === 302 && answer;
      }, 'the other application');
      expect(errorOf(asked)).toEqual([302, WEB, 'consent_required', 'xyz', grid.url]);
      expect(await works()).toBe(401);
      const renewed = await renew(grid, tokens.refresh_token, form);
      expect([renewed.status, (renewed.body as any).error]).toEqual([400, 'invalid_grant']);
    });

    it('is consent_required for a program on the user’s machine, which anybody may be', async () => {
      await openidTokens(grid, 'alice', OPENID);
      const answer = await (
        await visitor('alice')
      ).open(authorizePath({ ...OPENID, prompt: 'none' }));
      expect(errorOf(answer)).toEqual([302, CALLBACK, 'consent_required', 'xyz', grid.url]);
    });

    it('is login_required when nobody is signed in', async () => {
      const answer = await new PageVisitor(grid.anonymous).open(silent);
      expect(errorOf(answer)).toEqual([302, WEB, 'login_required', 'xyz', grid.url]);
    });

    it.each(['none login', 'consent none', 'sometimes'])(
      '%j is invalid_request',
      async (prompt) => {
        const answer = await (await visitor('alice')).open(webPath({ prompt }));
        expect(errorOf(answer)).toEqual([302, WEB, 'invalid_request', 'xyz', grid.url]);
      },
    );
  });

  describe('prompt=login', () => {
    it.each(['login', 'select_account', 'login consent'])(
      '%j asks for a sign-in for this request, by a new session, once',
      async (prompt) => {
        const alice = await visitor('alice');
        const path = webPath({ prompt });
        await alice.open(webPath());
        await hourAgo('alice');
        const began = Math.floor(Date.now() / 1000);
        const before = alice.cookie('__Host-gridgate');
        const page = await alice.open(path);
        expect(page.status).toBe(200);
        expect(page.body).toContain('<h1>Sign in</h1>');
        const [again] = formsOf(page.body);
        expect(again?.action).toBe('/oauth2/login');
        const signedIn = await alice.send(again!);
        expect([signedIn.status, signedIn.headers['location']]).toEqual([303, path]);
        expect(alice.cookie('__Host-gridgate')).not.toBe(before);
        const consent = await alice.open(path);
        expect(consent.body).toContain('asks for access');
        const claims = await exchanged(
          await alice.send(formOf(consent.body), { decision: 'allow' }),
        );
        expect(claims['auth_time']).toBeGreaterThanOrEqual(began);
        expect((await alice.open(path)).body).toContain('<h1>Sign in</h1>');
      },
    );

    it('is not got round by sending the form of another page', async () => {
      const alice = await visitor('alice');
      const form = formOf((await alice.open(webPath())).body);
      const path = webPath({ prompt: 'login' });
      const answer = await alice.send({ ...form, action: path }, { decision: 'allow' });
      expect(answer.headers['location']).toBeUndefined();
      expect(answer.body).toContain('<h1>Sign in</h1>');
    });

    it('signs nobody in without certificate, nor with the form of somebody else', async () => {
      const alice = await visitor('alice');
      const page = await alice.open(webPath({ prompt: 'login' }));
      const form = formsOf(page.body)[0]!;
      const forged = await alice.send(form, { csrf: 'A'.repeat(43) });
      expect([forged.status, forged.headers['location']]).toEqual([403, undefined]);
      const nobody = new PageVisitor(grid.anonymous);
      const own = await nobody.open(webPath());
      expect(formsOf(own.body)).toEqual([]);
      const cookie = alice.cookie('__Host-gridgate')!;
      nobody.setCookie('__Host-gridgate', cookie);
      const stolen = await nobody.send(form);
      expect([stolen.status, stolen.headers['location']]).toEqual([403, undefined]);
    });

    it('leads back to own pages only', async () => {
      const alice = await visitor('alice');
      const page = await alice.open(webPath({ prompt: 'login' }));
      const answer = await alice.send(formsOf(page.body)[0]!, { return: 'https://evil.example/' });
      expect(answer.headers['location']).toBe('/oauth2/applications');
    });
  });

  describe('Use another account', () => {
    it('leads from the consent page to the page for signing in, for the same request', async () => {
      const alice = await visitor('alice');
      const path = webPath({ state: 'another' });
      const consent = await alice.open(path);
      const another = formOf(consent.body);
      expect([another.action, consent.body.match(/>Use another account</g)?.length]).toEqual([
        path,
        1,
      ]);
      const page = await alice.send(another, { decision: 'another' });
      expect([page.status, page.body.includes('<h1>Sign in</h1>')]).toEqual([200, true]);
      const [again] = formsOf(page.body);
      expect(again?.action).toBe('/oauth2/login');
      const back = await alice.send(again!);
      expect([back.status, back.headers['location']]).toEqual([303, path]);
      const forged = await alice.send(another, { decision: 'another', csrf: 'A'.repeat(43) });
      expect([forged.status, forged.body.includes('<h1>Sign in</h1>')]).toEqual([403, false]);
    });
  });

  describe('max_age', () => {
    it('asks for a sign-in when the last one is longer ago', async () => {
      const bob = await visitor('bob');
      await bob.open(webPath());
      expect((await bob.open(webPath({ max_age: '3000' }))).body).toContain('asks for access');
      await hourAgo('bob');
      expect((await bob.open(webPath({ max_age: '3000' }))).body).toContain('<h1>Sign in</h1>');
      expect((await bob.open(webPath({ max_age: '9000' }))).body).toContain('asks for access');
      const silent = await bob.open(webPath({ max_age: '3000', prompt: 'none' }));
      expect(redirectOf(silent).parameters['error']).toBe('login_required');
    });

    it.each(['-1', 'soon', '1.5'])('%s is invalid_request', async (max) => {
      const answer = await (await visitor('bob')).open(webPath({ max_age: max }));
      expect(errorOf(answer)).toEqual([302, WEB, 'invalid_request', 'xyz', grid.url]);
    });
  });

  it('login_hint is shown as text', async () => {
    const hint = '<b>alice</b>@example.org';
    const page = await new PageVisitor(grid.anonymous).open(webPath({ login_hint: hint }));
    expect(page.body).toContain('It expects <b>&lt;b&gt;alice&lt;/b&gt;@example.org</b>.');
  });

  describe('id_token_hint', () => {
    const hintFor = async (name: Identity): Promise<string> => {
      const someone = await visitor(name);
      const page = await someone.open(webPath());
      const back = await someone.send(formOf(page.body), { decision: 'allow' });
      const { code } = redirectOf(back).parameters;
      const { body } = await exchange(grid, code, { client_id: 'web', redirect_uri: WEB });
      return (body as any).id_token;
    };

    it('lets its user go on, and asks everybody else to sign in as them', async () => {
      const hint = await hintFor('alice');
      const alice = await visitor('alice');
      const page = await alice.open(webPath({ id_token_hint: hint }));
      expect(page.body).toContain('asks for access');
      const again = await alice.open(webPath({ id_token_hint: hint, prompt: 'none' }));
      expect(redirectOf(again).parameters['code']).toBeDefined();
      const bob = await visitor('bob');
      expect((await bob.open(webPath({ id_token_hint: hint }))).body).toContain('<h1>Sign in</h1>');
      const silent = await bob.open(webPath({ id_token_hint: hint, prompt: 'none' }));
      expect(errorOf(silent)).toEqual([302, WEB, 'login_required', 'xyz', grid.url]);
    });

    it('is invalid_request when it is none, or none of this application', async () => {
      const { body } = await openidTokens(grid, 'alice', OPENID);
      const alice = await visitor('alice');
      for (const hint of ['nonsense', body.access_token, body.id_token]) {
        const answer = await alice.open(webPath({ id_token_hint: hint }));
        expect(errorOf(answer)).toEqual([302, WEB, 'invalid_request', 'xyz', grid.url]);
      }
    });
  });

  it.each([
    ['request', 'request_not_supported'],
    ['request_uri', 'request_uri_not_supported'],
    ['registration', 'registration_not_supported'],
  ])('%s is refused as %s', async (name, error) => {
    const answer = await (await visitor('alice')).open(webPath({ [name]: 'x' }));
    expect(errorOf(answer)).toEqual([302, WEB, error, 'xyz', grid.url]);
  });
});

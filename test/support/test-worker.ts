import { createHash, randomBytes } from 'node:crypto';
import { PROBLEM_CODES, type ProblemCode } from '#src/kernel/index.js';
import { challengeOf } from './challenges.js';
import { DpopCaller, makeKey, type TestKey } from './applications.js';
import type { Answer, Grid } from './testbed.js';

/** A site of workers. */
export const SITE = 'DESK.example';
/** An id that no worker has. */
export const UNKNOWN = '00000000-0000-4000-8000-000000000000';

/** A site with the backend `worker`. */
export async function addWorkerSite(grid: Grid, name: string, backend = 'worker'): Promise<void> {
  await grid.sql(
    `insert into registry_site (name, position, backend, options) values ($1, 50, $2, '{}')`,
    [name, backend],
  );
}

/** A secret of a site, as `gridgate site secret add` makes it. */
export async function addSiteSecret(
  grid: Grid,
  site: string,
  { reusable = false } = {},
): Promise<{ id: string; secret: string }> {
  const id = randomBytes(6).toString('hex');
  const secret = `gridgate-site.${id}.${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(secret).digest('base64url');
  await grid.sql(
    `insert into site_secret (id, site, hash, reusable, created_at, created_by)
      values ($1, $2, $3, $4, now(), 'test')`,
    [id, site, hash, reusable],
  );
  return { id, secret };
}

/** Workers that nobody is; their ids. */
export async function addWorkers(grid: Grid, count: number, site = SITE): Promise<string[]> {
  const rows = await grid.sql<{ id: string }>(
    `insert into worker (id, site, jkt, secret_id, name, version, protocol, facts, created_at, seen_at)
      select u.id, $1, u.id::text, '', 'node7', '0.2.0', 1, '{}', now(), now()
      from (select gen_random_uuid() as id from generate_series(1, $2)) u returning id`,
    [site, count],
  );
  return rows.map(({ id }) => id);
}

/** A worker that says what it is told to. */
export class TestWorker {
  id = '';
  token = '';

  private constructor(readonly caller: DpopCaller) {}

  static async of(grid: Pick<Grid, 'anonymous'>, key?: TestKey): Promise<TestWorker> {
    return new TestWorker(new DpopCaller(grid.anonymous, key ?? (await makeKey())));
  }

  /** One that has registered with a secret of its own. */
  static async registered(grid: Grid, site: string, facts?: object): Promise<TestWorker> {
    const worker = await TestWorker.of(grid);
    const { secret } = await addSiteSecret(grid, site);
    const { status } = await worker.register({ site, secret, ...(facts && { facts }) });
    if (status !== 201) throw new Error(`the worker was refused: ${status}`);
    return worker;
  }

  get key(): TestKey {
    return this.caller.key;
  }

  async register(
    body: { site: string; secret: string } & Record<string, unknown>,
  ): Promise<Answer> {
    const json = { protocol: 1, name: 'node7', version: '0.2.0', ...body };
    const answer = await this.caller.call('POST', '/workers', { json });
    if (answer.status < 300) ({ id: this.id, token: this.token } = answer.body);
    return answer;
  }

  renew(id = this.id): Promise<Answer> {
    return this.caller.call('POST', `/workers/${id}/token`);
  }

  /** Says goodbye with this token, or calls another route with it. */
  call(method = 'DELETE', path = `/workers/${this.id}`, token = this.token): Promise<Answer> {
    return this.caller.call(method, path, { token });
  }
}

/** An answer as far as tests compare it: status, body, and the challenge. */
export function seen({ status, body, headers }: Answer): unknown[] {
  const challenge = headers['www-authenticate'];
  return challenge === undefined ? [status, body] : [status, body, challenge];
}

/** A refusal as `seen` shows it. */
export function refused(code: ProblemCode, detail: string, more: object = {}): [number, object] {
  const { status, title } = PROBLEM_CODES[code];
  const instance = expect.stringMatching(/^urn:gridgate:request:/);
  const type = `urn:gridgate:problem:${code}`;
  return [status, { type, title, status, detail, code, instance, ...more }];
}

/** The refusal of a proof or token of a worker as `seen` shows it, with its challenge. */
export function badProof(grid: Grid, error: string, detail: string): unknown[] {
  const algorithms = 'algs="ES256 PS256 EdDSA Ed25519"';
  const challenge = `DPoP realm="gridgate", error="${error}", error_description="${detail}", ${algorithms}`;
  return [...refused('auth.token-invalid', detail), challengeOf(grid, challenge)];
}

/** Of every secret that is no good. */
export const NO_SECRET = refused(
  'worker.secret-refused',
  'The secret is none of this site, is revoked, or belongs to another worker: look whether the site is right, or ask an administrator for a new one (gridgate site secret add)',
);

export const noWorker = (id: string): unknown[] =>
  refused('worker.not-found', `There is no worker ${id}`);

/** Bodies of the answers to a registration and a renewal. */
export const registered = {
  id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  token: expect.any(String),
  expires_in: 3600,
  lease_seconds: 90,
};
export const renewed = { token: expect.any(String), expires_in: 3600, lease_seconds: 90 };

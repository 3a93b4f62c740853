import { DpopCaller, makeKey } from '../support/applications.js';
import { startGrid, type Grid } from '../support/testbed.js';

describe('a DPoP proof at two instances with one database', () => {
  let grid: Grid;
  let second: Grid;
  beforeAll(async () => {
    grid = await startGrid();
    second = await grid.second({ GRID_PUBLIC_URL: grid.url });
  });
  afterAll(async () => {
    await second?.remove();
    await grid?.remove();
  });

  it('counts once, also of requests that come together, for as long as it is taken', async () => {
    const caller = new DpopCaller(await grid.certificate('alice'), await makeKey());
    const query = 'grant_type=client_credentials&group=grid_user&setup=Prod';
    const { body } = await caller.call('GET', `/oauth2/token?${query}`);
    const token = body.access_token as string;
    const path = '/jobs?maxJobs=1';
    const dpop = await caller.proof('GET', path, token);
    const headers = { authorization: `DPoP ${token}`, dpop };
    const instances = [grid.anonymous, second.anonymous];
    const together = [...instances, ...instances, ...instances, ...instances];
    const answers = await Promise.all(together.map((one) => one.get(path, { headers })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
    const refused = { code: 'auth.token-invalid', detail: 'The DPoP proof has been used before' };
    for (const answer of answers.filter(({ status }) => status === 401)) {
      expect(answer.body).toMatchObject(refused);
    }
    const [row] = await grid.sql<{ seconds: number }>(
      'select extract(epoch from max(expires_at) - now())::float as seconds from request_proof',
    );
    // the oldest and the newest `iat` that are taken lie so far apart
    expect(row!.seconds).toBeGreaterThan(310);
  });
});

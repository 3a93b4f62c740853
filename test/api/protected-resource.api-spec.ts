import { DpopCaller, makeKey } from '../support/applications.js';
import { startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;
beforeAll(async () => {
  grid = await startGrid();
});
afterAll(async () => grid?.remove());

describe('a bound token that somebody asks about who shows it', () => {
  it.each([
    ['Bearer', 'invalid_token', 'The access token is bound to a DPoP key: send it as DPoP token'],
    ['DPoP', 'invalid_dpop_proof', 'Send a DPoP proof'],
  ])('as %s without a proof is refused by %s', async (scheme, error, detail) => {
    const caller = new DpopCaller(await grid.certificate('alice'), await makeKey());
    const query = 'grant_type=client_credentials&group=grid_user&setup=Prod';
    const { body } = await caller.call('GET', `/oauth2/token?${query}`);
    const token = body.access_token as string;
    for (const path of ['/oauth2/introspect', '/oauth2/revoke']) {
      const headers = { authorization: `${scheme} ${token}` };
      const answer = await grid.anonymous.post(path, { form: { token }, headers });
      const { error: said, error_description: description } = answer.body;
      expect([answer.status, said, description]).toEqual([401, error, detail]);
      expect(answer.headers['www-authenticate']).toContain(
        `DPoP realm="gridgate", error="${error}", error_description="${detail}"`,
      );
    }
  });
});

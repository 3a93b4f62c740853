import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { describeWith, pythonWith } from '../support/missing.js';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { CALLBACK, PORTAL } from '../support/portal.js';
import { startGrid, type Grid } from '../support/testbed.js';

const python = pythonWith('authlib.integrations.requests_client');

describeWith({ met: python !== undefined, name: 'python3-authlib' })(
  'Authlib, a client in another language',
  () => {
    let grid: Grid;
    beforeAll(async () => {
      grid = await startGrid();
    });
    afterAll(async () => grid.remove());

    it('completes code with PKCE, renewal and revocation', async () => {
      const child = spawn(python ?? 'python3', [join('test', 'support', 'authlib_flow.py')], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const exited = new Promise((resolve) => child.once('close', resolve));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const read = async <T>() => JSON.parse(String((await lines.next()).value)) as T;
      const write = (value: object) => child.stdin.write(`${JSON.stringify(value)}\n`);
      write({
        url: grid.url,
        client_id: PORTAL,
        redirect_uri: CALLBACK,
        ca: join(grid.home, 'pki', 'ca.crt'),
      });
      const { url } = await read<{ url: string }>();
      const visitor = new PageVisitor(await grid.certificate('alice'));
      const { pathname, search } = new URL(url);
      const page = await visitor.open(`${pathname}${search}`);
      const back = await visitor.send(formOf(page.body), { decision: 'allow' });
      write({ location: back.headers['location'] });
      expect(await read()).toEqual({
        scope: 'jobs:read catalogue:read',
        jobs: 200,
        isRenewed: true,
        revoked: 200,
        after: 401,
      });
      await exited;
    });
  },
);

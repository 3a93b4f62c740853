/** Figures of the client component. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, request } from 'undici';

const PARALLEL = 8;

const liveToken = {
  name: 'client.request',
  title: 'OAuth2Session.request with a live token, answer read as JSON',
  unit: 'req/s',
  better: 'higher',
  floor: "undici's own request with the same header to the same server",
  async prepare(bench) {
    const { OAuth2Session } = await bench.module('grid.js');
    const body = JSON.stringify({ jid: 1, status: 'Running', owner: 'alice' });
    const server = await bench.bare({ body });
    const ca = join(await bench.directory(), 'ca.crt');
    await writeFile(ca, server.ca);
    const token = { access_token: 'a'.repeat(500), token_type: 'Bearer', expires_in: 86_400 };
    const session = new OAuth2Session({ client_id: 'bench', token });
    const agent = new Agent({ connect: { ca: server.ca }, connections: PARALLEL });
    const headers = { authorization: `Bearer ${token.access_token}` };
    const url = `${server.url}/jobs/1`;
    const ours = async () => (await session.request('GET', url, { verify: ca })).json();
    const theirs = async () =>
      JSON.parse(await (await request(url, { headers, dispatcher: agent })).body.text());
    return {
      figure: (seconds) => bench.perSecond(ours, seconds, PARALLEL),
      floor: (seconds) => bench.perSecond(theirs, seconds, PARALLEL),
      finish: async () => {
        await session.close();
        await agent.destroy();
        await server.stop();
      },
    };
  },
};

export const figures = [liveToken];

import { GridClient } from './grid-client.js';

describe('GridClient', () => {
  it('repeats the key of a list in a form', async () => {
    let sent: unknown;
    const client = new GridClient({
      url: 'https://grid.example.org',
      fetch: (_url, init) => {
        sent = init?.body;
        return Promise.resolve(new Response('{}'));
      },
    });
    await client.postToken({ grant_type: 'x', audience: ['https://a', 'https://b'] });
    expect((sent as URLSearchParams).toString()).toBe(
      'grant_type=x&audience=https%3A%2F%2Fa&audience=https%3A%2F%2Fb',
    );
  });
});

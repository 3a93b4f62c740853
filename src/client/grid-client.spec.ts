import { jest } from '@jest/globals';
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

  it.each(['a%22b', '%0D', 'x%0A.dat'])(
    'sends no file %s, whose name a form changes',
    async (name) => {
      const fetched = jest.fn<typeof fetch>();
      const client = new GridClient({
        url: 'https://grid.example.org',
        token: 't',
        fetch: fetched,
      });
      const escaped = /%../.exec(name)?.[0] ?? '';
      const problem = `${name}: a form cannot carry ${escaped} in the name of a file, rename it`;
      const sent = client.submitWithFiles({ Executable: 'x' }, [
        { name, content: new Blob(['x']) },
      ]);
      await expect(sent).rejects.toMatchObject({
        ...{ name: 'GridError', status: 400, code: 'request.invalid', message: problem },
        violations: [{ field: 'files', problem }],
      });
      expect(fetched).not.toHaveBeenCalled();
    },
  );
});

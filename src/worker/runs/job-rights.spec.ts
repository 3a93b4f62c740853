import { describe, expect, it } from '@jest/globals';
import { JobRights } from './job-rights.js';
import type { StartOrder } from './start-program.js';

describe('JobRights', () => {
  it('ends what an account has by one process of that account, whatever that answers', async () => {
    for (const code of [0, 1, null]) {
      const started: StartOrder[] = [];
      const start = (order: StartOrder): Promise<number | null> => {
        started.push(order);
        return Promise.resolve(code);
      };
      const become = (uid: number | undefined): string[] => ['become', String(uid)];
      await new JobRights(become, '/nowhere', [], start).killAll(200_000);
      expect(started.map(({ program, words }) => [program, words[0]])).toEqual([
        ['become', '200000'],
      ]);
    }
  });
});

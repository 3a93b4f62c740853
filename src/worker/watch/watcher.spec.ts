import { describe, expect, it } from '@jest/globals';
import { Watcher } from './watcher.js';

describe('Watcher', () => {
  it('starts no thread any more once it is closed', async () => {
    const watcher = new Watcher();
    await watcher.close();
    await expect(watcher.ask({ kind: 'look', runs: [], maxEntries: 1 })).rejects.toThrow(
      'the thread that looks at jobs has ended',
    );
  });
});

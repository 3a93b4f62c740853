import { beforeEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import type { Executor } from '../run/executor.js';
import { PlaceFollower } from './place-follower.js';

interface Fake {
  executor: Executor;
  /** Ends the opening that is under way. */
  opened(isOpen: boolean): void;
  closed(): void;
}

describe('PlaceFollower', () => {
  let wanted: Executor[];
  let seen: string[];
  let follower: PlaceFollower;

  beforeEach(() => {
    wanted = [];
    seen = [];
    follower = new PlaceFollower(
      {
        source: { current: () => Promise.resolve(wanted) },
        repository: {
          recordUnusable: ({ id, fault }) => Promise.resolve(void seen.push(`${id}: ${fault}`)),
        },
        logger: pino({ level: 'silent' }),
        instance: 'i',
      },
      {
        started: ({ id }) => void seen.push(`${id} started`),
        stopped: async (executor) => {
          seen.push(`${executor.id} stopped`);
          await executor.close();
        },
      },
    );
  });

  const fake = (id: string): Fake => {
    let opened: (isOpen: boolean) => void = () => undefined;
    let closed: () => void = () => undefined;
    const executor = {
      id,
      fault: 'why not',
      open: () => {
        seen.push(`${id} opening`);
        return new Promise<boolean>((resolve) => (opened = resolve));
      },
      close: () => new Promise<void>((resolve) => (closed = resolve)),
    };
    return {
      executor: executor as unknown as Executor,
      opened: (isOpen) => opened(isOpen),
      closed: () => closed(),
    };
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('opens each by itself: one that does not come to an end holds up no other', async () => {
    const [slow, quick] = [fake('slow'), fake('quick')];
    wanted = [slow.executor, quick.executor];
    await follower.look();
    quick.opened(true);
    await settled();
    await follower.look();
    expect(seen).toEqual(['slow opening', 'quick opening', 'quick started']);
  });

  it('notes why one cannot be opened, and does not try again at once', async () => {
    const broken = fake('broken');
    wanted = [broken.executor];
    await follower.look();
    broken.opened(false);
    await settled();
    await follower.look();
    expect(seen).toEqual(['broken opening', 'broken: why not']);
  });

  it('opens what takes the place of another when that one has ended', async () => {
    const [before, after] = [fake('a'), fake('a')];
    wanted = [before.executor];
    await follower.look();
    before.opened(true);
    await settled();
    wanted = [after.executor];
    await follower.look();
    await follower.look();
    expect(seen).toEqual(['a opening', 'a started', 'a stopped']);
    before.closed();
    await settled();
    await follower.look();
    after.opened(true);
    await settled();
    expect(seen.slice(3)).toEqual(['a opening', 'a started']);
  });

  it('opens nothing after the end', async () => {
    const late = fake('late');
    wanted = [late.executor];
    follower.stop();
    await follower.look();
    expect(seen).toEqual([]);
  });
});

import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { ExpiredRows } from '#src/runtime/index.js';
import { BrowserSessionEntity } from './browser-session.entity.js';

/** Queries of browser sessions. */
@Injectable()
export class BrowserSessionsRepository implements OnApplicationBootstrap {
  constructor(
    @InjectRepository(BrowserSessionEntity)
    private readonly sessions: Repository<BrowserSessionEntity>,
    private readonly expiredRows: ExpiredRows,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(BrowserSessionEntity);
  }

  async add(session: BrowserSessionEntity): Promise<void> {
    await this.sessions.insert(session);
  }

  /** The session, unless it has ended. */
  async find(idHash: string, now: Date): Promise<BrowserSessionEntity | undefined> {
    return (await this.sessions.findOneBy({ idHash, expiresAt: MoreThan(now) })) ?? undefined;
  }

  /** Forgets what the sign-in was for. */
  async settle(idHash: string): Promise<void> {
    await this.sessions.update({ idHash }, { signedInFor: null });
  }

  async remove(idHash: string): Promise<void> {
    await this.sessions.delete({ idHash });
  }
}

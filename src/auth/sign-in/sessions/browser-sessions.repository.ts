import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, MoreThan, Repository } from 'typeorm';
import { BrowserSessionEntity } from './browser-session.entity.js';

/** Queries of browser sessions. */
@Injectable()
export class BrowserSessionsRepository {
  constructor(
    @InjectRepository(BrowserSessionEntity)
    private readonly sessions: Repository<BrowserSessionEntity>,
  ) {}

  async add(session: BrowserSessionEntity): Promise<void> {
    await this.sessions.insert(session);
  }

  /** The session, unless it has ended. */
  async find(idHash: string, now: Date): Promise<BrowserSessionEntity | undefined> {
    return (await this.sessions.findOneBy({ idHash, expiresAt: MoreThan(now) })) ?? undefined;
  }

  async remove(idHash: string): Promise<void> {
    await this.sessions.delete({ idHash });
  }

  async clean(now: Date): Promise<number> {
    return (await this.sessions.delete({ expiresAt: LessThan(now) })).affected ?? 0;
  }
}

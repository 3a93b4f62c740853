import { Inject, Injectable } from '@nestjs/common';
import { Audit } from '#src/audit/index.js';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { countRemovals, giveUpRemoval, listRemovals } from './bytes.repository.js';

/** Bytes that are to be removed. */
export interface Removal {
  path: string;
  se: string;
  since: Date;
  /** When it is tried next. */
  next: Date;
  /** How often it has failed. */
  tries: number;
  /** Why it failed the last time. */
  fault: string | null;
}

/** What is still to be removed at storage elements, for administrators. */
@Injectable()
export class RemovalQueue {
  constructor(
    private readonly database: Database,
    private readonly names: CatalogueNames,
    private readonly audit: Audit,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** What is removed next first; at one element, or those that have failed. */
  async list({
    se,
    isFailing,
    most,
  }: {
    se?: string | undefined;
    isFailing: boolean;
    most: number;
  }): Promise<Removal[]> {
    const seId = se === undefined ? undefined : await this.names.find('se', se);
    const rows = await listRemovals(this.database, { seId, isFailing, most });
    await this.names.load(rows.map(({ se_id: id }) => id));
    return rows.map(({ path, se_id: id, made_at: since, due_at: next, tries, fault }) => {
      return { path, se: this.names.nameOf(id), since, next, tries, fault };
    });
  }

  /** How many there are at each element, and of how many the last attempt has failed. */
  async counts(): Promise<Map<string, { waiting: number; failing: number }>> {
    const rows = await countRemovals(this.database);
    await this.names.load(rows.map(({ se_id: id }) => id));
    return new Map(rows.map(({ se_id: id, ...counts }) => [this.names.nameOf(id), counts]));
  }

  /** They stay where they are, and their path is free. False where nothing is to be removed, or that happens now. */
  async giveUp(path: string, se: string): Promise<boolean> {
    const seId = await this.names.find('se', se);
    const now = new Date(this.clock.now());
    const isDone = await giveUpRemoval(this.database, { path, seId, now });
    if (isDone) this.audit.done('catalogue.removal-given-up', { path, se });
    return isDone;
  }
}

import { SessionLock, type Database } from '#src/database/index.js';

/**
 * Which instance looks after the runs of all Slurm clusters: one lock, one connection, however many clusters there are.
 * A leader of a cluster that does not answer goes on with the others, so nothing is gained by a leader for each.
 */
export class SlurmLeadership {
  private readonly lock: SessionLock;
  private claiming: Promise<boolean> | undefined;
  private users = 0;
  private wasHeld = false;
  private terms = 0;

  constructor(database: Database) {
    this.lock = new SessionLock(database, 'slurm');
  }

  /** Number of the time for which this instance leads; undefined while it does not. A new number: others may have led. */
  get term(): number | undefined {
    this.note();
    return this.wasHeld ? this.terms : undefined;
  }

  /** An executor is opened; the lead is kept until the last one is closed. */
  join(): void {
    this.users += 1;
  }

  /** Takes the lead when nobody else has it; answers the term. */
  async claim(): Promise<number | undefined> {
    this.claiming ??= this.lock.claim().finally(() => (this.claiming = undefined));
    await this.claiming;
    return this.term;
  }

  /** An executor is closed. */
  leave(): void {
    this.users -= 1;
    if (this.users <= 0) this.lock.release();
    this.note();
  }

  private note(): void {
    if (this.lock.isHeld && !this.wasHeld) this.terms += 1;
    this.wasHeld = this.lock.isHeld;
  }
}

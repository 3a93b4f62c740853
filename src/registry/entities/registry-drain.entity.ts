import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A site that is given no new jobs. */
@Entity('registry_drain')
export class RegistryDrainEntity {
  @PrimaryColumn('text')
  site!: string;

  /** Empty when none was said. */
  @Column('text')
  reason!: string;

  /** Who drained it. */
  @Column('text')
  drainedBy!: string;

  @Column({ type: 'timestamptz', precision: 3 })
  drainedAt!: Date;
}

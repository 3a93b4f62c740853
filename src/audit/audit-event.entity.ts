import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A line of the audit trail, of any instance. */
@Entity('audit_events')
@Index('audit_events_event', ['event', 'id'])
@Index('audit_events_who', { synchronize: false })
@Index('audit_events_refused', { synchronize: false })
export class AuditEventEntity {
  /** UUID version 7: in the order of time. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column({ type: 'timestamptz', precision: 3 })
  time!: Date;

  /** Host and port of the server, or the host on which a command ran. */
  @Column('text')
  instance!: string;

  @Column('text')
  event!: string;

  @Column('text')
  outcome!: string;

  @Column('text', { name: 'user_name', nullable: true })
  user!: string | null;

  @Column('text', { name: 'group_name', nullable: true })
  group!: string | null;

  @Column('text', { name: 'client_id', nullable: true })
  client!: string | null;

  /** All other fields of the line. */
  @Column('jsonb')
  details!: object;
}

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Where the events of a webhook come from. */
export const SOURCES = ['jobs', 'filecatalogue'] as const;

/** Where the events of a webhook come from. */
export type SourceName = (typeof SOURCES)[number];

/** A JSON object; TypeORM's types do not end with those of the kernel's. */
export type JsonRecord = object;

/** A receiver that is told of events, on behalf of whoever has asked for it. */
@Entity('webhook')
@Index('webhook_owner', ['user', 'group', 'setup'])
@Index('webhook_position', { synchronize: false })
export class WebhookEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text', { name: 'user_name' })
  user!: string;

  @Column('text', { name: 'group_name' })
  group!: string;

  @Column('text')
  setup!: string;

  /** Application by which it was made. */
  @Column('text')
  clientId!: string;

  /** Of the token by which it was made; words separated by blanks. */
  @Column('text')
  scope!: string;

  @Column('text')
  url!: string;

  @Column('text')
  source!: SourceName;

  @Column('jsonb')
  filter!: JsonRecord;

  @Column('text', { default: '' })
  description!: string;

  /** Sealed. */
  @Column('text')
  secret!: string;

  /** Sealed; signs beside the other one until `previousUntil`. */
  @Column('text', { nullable: true })
  previousSecret!: string | null;

  @Column('timestamptz', { nullable: true })
  previousUntil!: Date | null;

  @Column('boolean', { default: true })
  enabled!: boolean;

  @Column('text', { nullable: true })
  disabledReason!: string | null;

  @Column('timestamptz', { nullable: true })
  disabledAt!: Date | null;

  /** Its latest attempt was not answered in time. */
  @Column('boolean', { default: false })
  silent!: boolean;

  /** Events up to this one have been looked at. */
  @Column('bigint')
  position!: number;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('timestamptz')
  updatedAt!: Date;
}

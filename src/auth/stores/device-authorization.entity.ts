import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { ConsentEntity } from './consent.entity.js';

/** State of a device's request. */
export type DeviceStatus = 'pending' | 'allowed' | 'denied' | 'used';

/** A device that waits for its user (RFC 8628). */
@Entity('device_authorization')
@Unique(['userCode'])
@Check('device_authorization_status_check', "status in ('pending', 'allowed', 'denied', 'used')")
@Index('device_authorization_expiry', ['expiresAt'])
export class DeviceAuthorizationEntity {
  @PrimaryColumn('text')
  deviceCodeHash!: string;

  /** Without its hyphen. */
  @Column('text')
  userCode!: string;

  @Column('text')
  clientId!: string;

  @Column('text', { nullable: true })
  scope!: string | null;

  @Column('text', { name: 'group_name', nullable: true })
  group!: string | null;

  @Column('text', { nullable: true })
  setup!: string | null;

  /** Services that tokens are asked for. */
  @Column('text', { array: true, nullable: true })
  audience!: string[] | null;

  @ForeignKey(() => ConsentEntity, { onDelete: 'CASCADE' })
  @Column('text', { name: 'grant_id', nullable: true })
  consentId!: string | null;

  @Column('text')
  status!: DeviceStatus;

  @Column('integer')
  intervalSeconds!: number;

  @Column('timestamptz', { nullable: true })
  polledAt!: Date | null;

  @Column('timestamptz')
  expiresAt!: Date;
}

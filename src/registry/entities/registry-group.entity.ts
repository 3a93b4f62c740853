import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { GroupLimits } from '../model/limits.js';

/** Members who share rights. */
@Entity('registry_group')
export class RegistryGroupEntity {
  @PrimaryColumn('text')
  name!: string;

  /** Place in the file. */
  @Column('integer')
  position!: number;

  @Column('text', { nullable: true })
  vo!: string | null;

  @Column('text', { array: true })
  properties!: string[];

  @Column('text', { array: true })
  idpScopes!: string[];

  @Column('text', { nullable: true })
  idpRole!: string | null;

  @Column('jsonb', { nullable: true })
  limits!: GroupLimits | null;
}

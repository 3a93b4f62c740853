import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { StorageKind } from '../model/storage-element.js';

/** A place that holds replicas of catalogue files; null is what the file does not say. */
@Entity('registry_storage_element')
@Check('registry_storage_element_kind_check', "kind in ('webdav', 's3')")
export class RegistryStorageElementEntity {
  @PrimaryColumn('text')
  name!: string;

  /** Place in the file. */
  @Column('integer')
  position!: number;

  @Column('text', { nullable: true })
  description!: string | null;

  @Column('text', { nullable: true })
  url!: string | null;

  @Column('text', { nullable: true })
  kind!: StorageKind | null;

  @Column('text', { array: true, nullable: true })
  vos!: string[] | null;

  @Column('text', { nullable: true })
  base!: string | null;

  @Column('text', { nullable: true })
  audience!: string | null;

  @Column('text', { nullable: true })
  credentialsFile!: string | null;

  @Column('boolean', { nullable: true })
  removes!: boolean | null;
}

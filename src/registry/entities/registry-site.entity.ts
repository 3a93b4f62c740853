import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '#src/kernel/index.js';
import type { SiteBackend, SiteNetwork } from '../model/registry.types.js';
import type { SiteConnection } from '../model/site-connection.js';
import type { SiteLimits } from '../model/limits.js';

/** A compute backend; null is what the file does not say. */
@Entity('registry_site')
@Check('registry_site_slots_check', 'slots > 0')
@Check('registry_site_processors_check', 'processors > 0')
@Check('registry_site_ram_mb_check', 'ram_mb > 0')
@Check('registry_site_gpus_check', 'gpus >= 0')
@Check('registry_site_max_wall_time_check', 'max_wall_time > 0')
@Check('registry_site_network_check', "network in ('none', 'host')")
export class RegistrySiteEntity {
  @PrimaryColumn('text')
  name!: string;

  /** Place in the file. */
  @Column('integer')
  position!: number;

  @Column('text')
  backend!: SiteBackend;

  @Column('jsonb')
  options!: JsonObject;

  @Column('text', { array: true, nullable: true })
  setups!: string[] | null;

  @Column('text', { array: true, nullable: true })
  vos!: string[] | null;

  @Column('integer', { nullable: true })
  slots!: number | null;

  @Column('integer', { nullable: true })
  processors!: number | null;

  @Column('integer', { nullable: true })
  ramMb!: number | null;

  @Column('integer', { nullable: true })
  gpus!: number | null;

  @Column('text', { array: true, nullable: true })
  tags!: string[] | null;

  /** Seconds. */
  @Column('integer', { nullable: true })
  maxWallTime!: number | null;

  @Column('text', { nullable: true })
  network!: SiteNetwork | null;

  @Column('jsonb', { nullable: true })
  limits!: SiteLimits | null;

  @Column('jsonb', { nullable: true })
  connection!: SiteConnection | null;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A subject that a user has or had: it is never given to another. Kept by a trigger of `registry_user`. */
@Entity('registry_known_subject')
export class RegistryKnownSubjectEntity {
  @PrimaryColumn('text')
  sub!: string;

  @Column('text')
  userName!: string;
}

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** One file in an archive. */
export interface SandboxFile {
  name: string;
  size: number;
}

/** What the database knows of an archive; its bytes are in the sandbox store. */
@Entity('job_sandboxes')
export class SandboxEntity {
  /** SHA-256 of the bytes. */
  @PrimaryColumn('text')
  hash!: string;

  @Column('bigint')
  sizeBytes!: number | bigint;

  @Column('json')
  files!: SandboxFile[];

  @Index('job_sandboxes_used_at')
  @Column({ type: 'timestamptz', precision: 3 })
  usedAt!: Date;
}

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** One file in an archive. */
export interface SandboxFile {
  name: string;
  /** Bytes; of a link those of the file to which it leads. */
  size: number;
  /** A symbolic link: the path in the archive to which it leads, which may be a directory or not be there. */
  link?: string;
  /** An empty directory; directories with files in them stand in their names. */
  directory?: true;
  /** Its owner may execute it; of a link the file to which it leads. */
  executable?: true;
  /** When it was last written, in seconds since 1970; missing for uploaded files, and for all of earlier versions. */
  modified?: number;
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

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { WholeMachine } from '../run/executor.js';

/** How far a worker can keep its jobs apart, from best to none. */
export const WORKER_ISOLATIONS = ['namespaces', 'accounts', 'none'] as const;

/** What a worker says of its machine. */
export interface WorkerFacts extends WholeMachine {
  isolation?: (typeof WORKER_ISOLATIONS)[number];
  /** MB of 2^20 bytes. */
  diskMB?: number;
  /** Whether each run has a memory cgroup. */
  memoryCgroup?: boolean;
}

/** A worker of a site, which is its key. */
export type SiteWorker = WorkerEntity & Record<'site' | 'jkt' | 'secretId', string>;

/** A program that runs jobs of a site: it is its key. Or the service's own one, which is known by its socket. */
@Entity('worker')
@Index('worker_key', { synchronize: false })
@Index('worker_secret', ['secretId'])
export class WorkerEntity {
  @PrimaryColumn('uuid')
  id!: string;

  /** null: it is the service's own, and runs jobs of all sites with the backend `local-process`. */
  @Column('text', { nullable: true })
  site!: string | null;

  /** Thumbprint of its key (RFC 7638, SHA-256); of workers that are not gone, one at each site. null: the service's own needs none. */
  @Column('text', { nullable: true })
  jkt!: string | null;

  /** The secret that it has shown last. */
  @Column('text', { nullable: true })
  secretId!: string | null;

  /** As it calls itself; not unique. */
  @Column('text')
  name!: string;

  @Column('text')
  version!: string;

  @Column('integer')
  protocol!: number;

  @Column('jsonb')
  facts!: WorkerFacts;

  /** The instance that has, or last had, its claim. */
  @Column('text', { nullable: true })
  instance!: string | null;

  /** Where jobs can touch each other: whose jobs it takes, from the first one on. */
  @Column('text', { nullable: true })
  owner!: string | null;

  /** Of its last claim: a claim whose number is not above it decides nothing. */
  @Column('bigint', { default: 0 })
  seq!: number;

  @Column('timestamptz')
  createdAt!: Date;

  /** When it last registered, renewed its token or claimed. */
  @Column('timestamptz')
  seenAt!: Date;

  /** Since when it is given no runs. */
  @Column('timestamptz', { nullable: true })
  drainingAt!: Date | null;

  /** Since when it is gone: its id opens nothing any more. */
  @Column('timestamptz', { nullable: true })
  removedAt!: Date | null;

  /** Whose runs have gone wrong at once since the last one that did not; the last ones. Empty for a run that the worker itself lost. */
  @Column('text', { array: true, default: '{}' })
  badRuns!: string[];

  /** How often it has gone wrong with them; 0: it gets as many runs as it would take. */
  @Column('integer', { default: 0 })
  pauses!: number;

  @Column('timestamptz', { nullable: true })
  pausedUntil!: Date | null;
}

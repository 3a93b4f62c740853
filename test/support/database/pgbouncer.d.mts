/** A running PgBouncer in transaction mode. */
export interface PgBouncer {
  port: number;
  log(): string;
  url(database: string): string;
  stop(): Promise<void>;
}

export function startPgBouncer(options: {
  /** Of the PostgreSQL on 127.0.0.1. */
  port: number;
  user: string;
  password: string;
  settings?: string[];
}): Promise<PgBouncer>;

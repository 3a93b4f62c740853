/** A running PgBouncer in transaction mode. */
export interface PgBouncer {
  port: number;
  log(): string;
  url(database: string): string;
  stop(): Promise<void>;
}

export function startPgBouncer(options: {
  /** Of the PostgreSQL on this machine. */
  port: number;
  user: string;
  password: string;
  /** Of a PostgreSQL that demands TLS and a client certificate. */
  pki?: {
    ca: string;
    serverCert: string;
    serverKey: string;
    clientCert: string;
    clientKey: string;
  };
  settings?: string[];
}): Promise<PgBouncer>;

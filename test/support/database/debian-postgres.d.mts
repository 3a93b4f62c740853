/** Files of a cluster with TLS, absolute paths. */
export interface ClusterPki {
  ca: string;
  /** A CA that has issued nothing here. */
  otherCa: string;
  serverCert: string;
  serverKey: string;
  clientCert: string;
  clientKey: string;
}

/** A running PostgreSQL of the distribution; it demands SCRAM-SHA-256 everywhere. */
export interface DebianPostgres {
  /** Holds its unix socket. */
  directory: string;
  port: number;
  pki: ClusterPki | undefined;
  user: string;
  password: string;
  log(): string;
  /** Through TCP, with everything that the cluster demands. */
  url(database: string): string;
  socketUrl(database: string): string;
  stop(): Promise<void>;
}

export function startDebianPostgres(options: {
  user: string;
  password: string;
  tls?: boolean;
  rules?: string[];
}): Promise<DebianPostgres>;

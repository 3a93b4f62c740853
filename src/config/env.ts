import { resolve } from 'node:path';
import type { DatabaseConnection } from './database-url.js';
import { VARIABLES } from './settings.js';

export { VARIABLES };

type Values = { [K in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[K]['read']> };

/** The configuration of one process: every variable's value, and what follows from several of them. */
export type Config = Readonly<
  Values & {
    /** Absolute path of GRID_HOME. */
    homePath: string;
    production: boolean;
    loadDemo: boolean;
    servePortal: boolean;
    useDevelopmentCa: boolean;
    allowLocalExecutor: boolean;
  }
>;

/** Injection token of the Config. */
export const CONFIG = Symbol('Config');

/** A start that cannot be: names each variable, what is wrong with its value and what is expected. */
export class ConfigurationFault extends Error {
  constructor(readonly faults: string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigurationFault';
  }
}

/** The database that the environment names; undefined: the embedded one of GRID_HOME. */
export function configuredDatabase(config: Config): DatabaseConnection | undefined {
  const { databaseUrl, databaseDirectUrl } = config;
  if (databaseUrl === undefined) return undefined;
  return databaseDirectUrl === undefined
    ? { url: databaseUrl }
    : { url: databaseUrl, directUrl: databaseDirectUrl };
}

/** The settings with which everybody sees what belongs to other virtual organisations, by name. */
export function openSettings(
  config: Pick<Config, 'globalJobs' | 'catalogueGlobalRead'>,
): readonly string[] {
  const settings = [VARIABLES.globalJobs, VARIABLES.catalogueGlobalRead];
  const values: unknown[] = [config.globalJobs, config.catalogueGlobalRead];
  return settings.map(({ name }) => name).filter((_name, index) => values[index] === 'true');
}

/** Reads the environment. Throws ConfigurationFault with every fault at once. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, definition] of Object.entries(VARIABLES)) {
    const text = environment[definition.name];
    try {
      values[key] = definition.read(text);
    } catch (error) {
      const shown = definition.secret ? '(hidden)' : JSON.stringify(text);
      faults.push(`${definition.name}=${shown} ${(error as Error).message}`);
    }
  }
  if (faults.length === 0) faults.push(...contradictions(values as Values));
  if (faults.length > 0) throw new ConfigurationFault(faults);
  return Object.freeze({ ...(values as Values), ...derive(values as Values) });
}

function derive(values: Values): Omit<Config, keyof Values> & { publicUrl: string } {
  const production = values.nodeEnv === 'production';
  const standalone = values.databaseUrl === undefined && values.registryFile === undefined;
  const loadDemo = values.demo ?? (standalone && !production);
  return {
    homePath: resolve(values.home),
    publicUrl: values.publicUrl || `https://localhost:${values.port}`,
    production,
    loadDemo,
    servePortal: values.portal ?? loadDemo,
    useDevelopmentCa: values.developmentCa ?? (!production && values.tlsCertificate === undefined),
    allowLocalExecutor: values.localExecutor ?? !production,
  };
}

const LEAST_KEY_LENGTH = 32;
const LOOPBACK = /^(127(\.\d{1,3}){3}|\[?::1\]?|localhost)$/;

/** Who may sign in without any proof must not be reached from elsewhere, nor find anybody else's data. */
function demoSignInFaults(values: Values): string[] {
  const { nodeEnv, demo, registryFile, host, publicUrl, tlsMode, demoSignIn = '' } = values;
  const isAway = publicUrl !== '' && !LOOPBACK.test(new URL(publicUrl).hostname);
  const reasons = [
    nodeEnv === 'production' && 'in production',
    demo === false && 'without the data of the demo (GRID_DEMO)',
    registryFile !== undefined && 'beside a registry of your own (GRID_REGISTRY)',
    !LOOPBACK.test(host) && 'beyond loopback (GRID_HOST)',
    isAway && 'beyond loopback (GRID_PUBLIC_URL)',
    tlsMode === 'off' && 'behind a load balancer (GRID_TLS=off)',
    demoSignIn.length < LEAST_KEY_LENGTH &&
      `with a key of less than ${LEAST_KEY_LENGTH} characters`,
  ];
  return reasons.flatMap((reason) =>
    reason === false
      ? []
      : [`GRID_DEMO_SIGN_IN lets people in without a proof, and is refused ${reason}`],
  );
}

function contradictions(values: Values): string[] {
  const faults: string[] = [];
  if ((values.tlsCertificate === undefined) !== (values.tlsKey === undefined)) {
    faults.push('GRID_TLS_CERT and GRID_TLS_KEY must be given together');
  }
  if (values.registrySync === true && values.registryFile === undefined) {
    faults.push('GRID_REGISTRY_SYNC=true needs the file that rules: set GRID_REGISTRY');
  }
  if (values.demoSignIn !== undefined) faults.push(...demoSignInFaults(values));
  if (values.databaseDirectUrl !== undefined && values.databaseUrl === undefined) {
    faults.push('GRID_DATABASE_DIRECT_URL is given without DATABASE_URL');
  }
  const noCertificate = values.tlsMode === 'on' && values.tlsCertificate === undefined;
  if (values.nodeEnv === 'production' && noCertificate && values.developmentCa !== true) {
    faults.push(
      'GRID_TLS_CERT is not set: in production give GRID_TLS_CERT and GRID_TLS_KEY, or GRID_TLS=off behind a load balancer, or ask for GRID_DEVELOPMENT_CA=true',
    );
  }
  if (
    values.sandboxStore.startsWith('s3:') &&
    !/^s3:\/\/[^/\s]+(\/\S*)?$/.test(values.sandboxStore)
  ) {
    faults.push('GRID_SANDBOX_STORE is not of the form s3://bucket/prefix');
  }
  if ((values.s3AccessKey === undefined) !== (values.s3SecretKey === undefined)) {
    faults.push('GRID_S3_ACCESS_KEY and GRID_S3_SECRET_KEY must be given together');
  }
  const { slurmUrl } = values;
  if (slurmUrl !== undefined && !/^(https?:\/\/[^/]+\/?|unix:\/.+)$/.test(slurmUrl)) {
    faults.push('GRID_SLURM_URL is neither http://host:port nor unix:/path');
  }
  const { slurmAccounts } = values;
  if (slurmAccounts !== undefined && !/^[A-Za-z_][\w.-]{0,31}$/.test(slurmAccounts)) {
    faults.push('GRID_SLURM_ACCOUNTS is neither owner nor group nor the name of an account');
  }
  const isNameless = values.slurmToken === undefined && values.slurmTokenKeyFile === undefined;
  if (slurmUrl !== undefined && slurmAccounts !== undefined && isNameless) {
    faults.push(
      'GRID_SLURM_ACCOUNTS needs GRID_SLURM_JWT_KEY, or GRID_SLURM_TOKEN of SlurmUser: without a token slurmrestd runs all jobs as its own account',
    );
  }
  const { otlpEndpoint } = values;
  if (otlpEndpoint !== undefined && !/^https?:\/\/[^\s?#]+$/.test(otlpEndpoint)) {
    faults.push('OTEL_EXPORTER_OTLP_ENDPOINT is not a base URL like http://collector:4318');
  }
  const key = values.keyEncryptionKey;
  if (values.nodeEnv === 'production' && key === undefined) {
    faults.push(
      'GRID_KEY_ENCRYPTION_KEY is not set: in production private keys and tokens of identity providers are never stored without it; give the output of: openssl rand -base64 32 (the same on every instance, with a copy in your vault)',
    );
  }
  if (key !== undefined && Buffer.from(key, 'base64').length !== 32) {
    faults.push('GRID_KEY_ENCRYPTION_KEY=(hidden) is not the base64 of 32 bytes');
  }
  return faults;
}

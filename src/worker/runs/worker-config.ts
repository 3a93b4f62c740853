import type { Config } from '#src/config/index.js';

/** The settings that a worker needs. */
export const WORKER_SETTINGS = [
  'homePath',
  'localSlots',
  'localIsolation',
  'localAccounts',
  'localBinds',
  'localMinFreeBytes',
  'localPrograms',
  'jobWallTime',
  'jobMemoryMb',
  'jobProcesses',
  'jobOutputBytes',
  'jobOpenFiles',
  'jobDiskBytes',
  'jobFiles',
  'maxSandboxBytes',
  'sandboxStore',
  'storageCa',
  'storageTimeout',
  'slurmWorkDir',
  'tlsKey',
  'idProvidersFile',
  'slurmTokenKeyFile',
  'trustedProxies',
] as const satisfies readonly (keyof Config)[];

/** What of the configuration concerns a worker. */
export type WorkerConfig = Pick<Config, (typeof WORKER_SETTINGS)[number]>;

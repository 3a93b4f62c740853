import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where the parts of one cluster live. */
export interface ClusterPlace {
  directory: string;
  controllerPort: number;
  nodePort: number;
}

/** The node's name: the short host name, by which slurmd finds itself in the file. */
export function nodeName(): string {
  return hostname().split('.')[0] ?? 'localhost';
}

/** gres.conf: the machine has no GPUs, so two devices that every machine has stand for them. */
export const GRES_CONF = 'Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n';

/** Where control groups of version 1 bound memory. */
const MEMORY_GROUPS = '/sys/fs/cgroup/memory';

/** cgroup.conf: jobs get the memory that they asked for; read only by `MEMORY_SETTINGS`. */
export const CGROUP_CONF =
  'CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nConstrainRAMSpace=yes\n';

/** Lines of slurm.conf with which the kernel ends what has more memory than it asked for. */
export const MEMORY_SETTINGS = {
  TaskPlugin: 'task/cgroup',
  SelectTypeParameters: 'CR_CPU_Memory',
};

/** True where such a cluster can bound memory. */
export function canBoundMemory(): boolean {
  return existsSync(`${MEMORY_GROUPS}/memory.limit_in_bytes`);
}

/** Removes the control groups that a slurmd has left; of those in use nothing. */
export async function removeMemoryGroups(): Promise<void> {
  const left = `${MEMORY_GROUPS}/slurm_${nodeName()}`;
  if (!existsSync(left)) return;
  await run('find', [left, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']).catch(
    () => undefined,
  );
}

/**
 * slurm.conf of one node that pretends to have 32 CPUs and two GPUs, on loopback addresses only. The scheduler settings give the
 * shortest way from submit to start that was measured (0.3 s); KillWait stays at Slurm's own 30 s, so that a kill is
 * fast by our doing and not by the site's. `more` settings replace these.
 */
export function slurmConf(
  { directory, controllerPort, nodePort }: ClusterPlace,
  more: Readonly<Record<string, string | number>> = {},
): string {
  const node = nodeName();
  const settings = {
    ClusterName: 'gridtest',
    SlurmctldHost: `${node}(127.0.0.1)`,
    SlurmctldPort: controllerPort,
    SlurmdPort: nodePort,
    SlurmUser: 'root',
    SlurmdUser: 'root',
    CommunicationParameters: 'NoCtldInAddrAny,NoInAddrAny',
    AuthType: 'auth/munge',
    AuthInfo: `socket=${directory}/munge/socket`,
    AuthAltTypes: 'auth/jwt',
    AuthAltParameters: `jwt_key=${directory}/jwt.key`,
    CryptoType: 'crypto/munge',
    StateSaveLocation: `${directory}/state`,
    SlurmdSpoolDir: `${directory}/spool`,
    SlurmctldPidFile: `${directory}/slurmctld.pid`,
    SlurmdPidFile: `${directory}/slurmd.pid`,
    SlurmctldLogFile: `${directory}/slurmctld.log`,
    SlurmdLogFile: `${directory}/slurmd.log`,
    ProctrackType: 'proctrack/linuxproc',
    TaskPlugin: 'task/none',
    JobAcctGatherType: 'jobacct_gather/none',
    AccountingStorageType: 'accounting_storage/none',
    JobCompType: 'jobcomp/filetxt',
    JobCompLoc: `${directory}/completions.txt`,
    MpiDefault: 'none',
    SwitchType: 'switch/none',
    SchedulerType: 'sched/backfill',
    SchedulerParameters: 'sched_min_interval=0,bf_interval=1,batch_sched_delay=0',
    SelectType: 'select/cons_tres',
    SelectTypeParameters: 'CR_CPU',
    GresTypes: 'gpu',
    SlurmdParameters: 'config_overrides',
    ReturnToService: 2,
    SlurmdTimeout: 5,
    SlurmctldTimeout: 5,
    MaxArraySize: 1001,
    MaxJobCount: 20_000,
    ...more,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return [
    ...lines,
    `NodeName=${node} NodeAddr=127.0.0.1 CPUs=32 RealMemory=262144 Gres=gpu:2 Feature=el9,big State=UNKNOWN`,
    `PartitionName=main Nodes=${node} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO`,
    '',
  ].join('\n');
}

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { KeysService } from '../../auth/index.js';
import { StorageElements } from '../../file-catalogue/index.js';
import { RegistryService } from '../../registry/index.js';
import { SANDBOX_STORE, type SandboxStore } from '../../jobs/index.js';
import { describeLocalIsolation, thisMachine } from '../../worker/index.js';
import { CommandError } from '../terminal/command-error.js';
import { onService, type CliContext } from './context.js';
import { checkBalancer, type BalancerInput } from '../doctor/balancer-checks.js';
import { checkDatabase, checkSessions } from '../doctor/database-checks.js';
import { checkElements } from '../doctor/element-checks.js';
import { fault, reasonOf, skipped, type Finding, type FindingState } from '../doctor/finding.js';
import {
  checkApplications,
  checkBorders,
  checkGpus,
  checkKeys,
  isolationFinding,
} from '../doctor/service-checks.js';
import { checkSlurm, checkSlurmSites } from '../doctor/slurm-checks.js';
import { checkDisk, checkStore } from '../doctor/storage-checks.js';
import { checkTrust } from '../doctor/trust-checks.js';
import { unreadable } from '../terminal/reading.js';

const NEEDS_SCHEMA = 'not tried: the database lacks the schema of this version';

/**
 * `gridgate doctor`: looks at everything an instance depends on, as it will be used, with the environment of the
 * service, and says what is wrong and what to do. Changes nothing. Exit 1 when there is a fault, warnings are 0.
 */
export const doctorCommand = onService(
  'doctor',
  'look at everything an instance depends on, and say what is wrong',
  {
    options: [
      ['--cert <file>', "a registered user's certificate, to try the way through the balancer"],
      ['--key <file>', 'its key'],
      ['--ca <file>', "CA of the server's certificate, where it is one of your own"],
    ],
    show: async (service, options) => {
      await readable(options);
      const findings = await examine(service, options);
      const faults = findings.filter(({ state }) => state === 'fault').length;
      const fault =
        faults > 0 && new CommandError(`${faults} ${faults === 1 ? 'fault' : 'faults'}`);
      return { value: { findings, faults }, lines: linesOf(findings), fault };
    },
  },
);

/** A file that was named and cannot be read is a mistake of the call, not a finding. */
async function readable(options: BalancerInput): Promise<void> {
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new CommandError('--cert and --key belong together', 2, 'give both, or none of them');
  }
  for (const name of ['cert', 'key', 'ca'] as const) {
    const path = options[name];
    if (path === undefined) continue;
    await access(path, constants.R_OK).catch((error: unknown) => {
      throw unreadable(`--${name} ${path}`, error);
    });
  }
}

async function examine(context: CliContext, options: BalancerInput): Promise<Finding[]> {
  const { config } = context;
  const connection = await context.connection();
  const database = await checkDatabase(config, connection);
  const findings = [...database, await checkSessions(connection)];
  // Opening the application would migrate: only where there is nothing left to migrate.
  const hasSchema = database.some(({ check, state }) => check === 'schema' && state === 'ok');
  findings.push(...(hasSchema ? await examineService(context) : notTried(NEEDS_SCHEMA)));
  findings.push(...(await checkTrust(config)), ...(await checkDisk(config)));
  findings.push(isolationFinding(await describeLocalIsolation(config)));
  findings.push(...(await checkBalancer(config, options)));
  return findings;
}

/** What only the service's own objects can tell. */
async function examineService(context: CliContext): Promise<Finding[]> {
  try {
    const app = await context.application();
    const { contents } = await app.get(RegistryService).current();
    const owners = contents.users.map(({ name }) => name);
    const groups = contents.groups.map(({ name }) => name);
    return [
      await checkKeys(context.config, app.get(KeysService)),
      checkApplications(context.config, contents.applications),
      checkBorders(context.config, contents.groups),
      await checkStore(context.config, app.get<SandboxStore>(SANDBOX_STORE)),
      ...(await checkElements(app.get(StorageElements), contents.storageElements)),
      ...(await checkSlurm(context.config, { owners, groups })),
      ...(await checkSlurmSites(context.config, contents.sites, { owners, groups })),
      ...checkGpus(context.config, contents.sites, (await thisMachine()).gpus.length),
    ];
  } catch (error) {
    const advice = 'A server with these settings does not start';
    return [fault('start', reasonOf(error), advice), ...notTried('not tried: see start')];
  }
}

function notTried(reason: string): Finding[] {
  const checks = [
    'signing keys',
    'applications',
    'virtual organisations',
    'sandbox store',
    'Slurm',
  ];
  return checks.map((check) => skipped(check, reason));
}

const WORDS: Record<FindingState, string> = {
  ok: 'ok      ',
  warning: 'warning ',
  fault: 'FAULT   ',
  skipped: 'skipped ',
};

function linesOf(findings: Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings.flatMap(({ check, state, text, advice }) => [
    `${WORDS[state]} ${check.padEnd(width)}  ${text}`,
    ...(advice === undefined ? [] : [`${' '.repeat(width + 11)}→ ${advice}`]),
  ]);
}

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { Command } from 'commander';
import { KeysService } from '../../auth/index.js';
import { RegistryService } from '../../registry/index.js';
import { describeLocalIsolation, SANDBOX_STORE, type SandboxStore } from '../../jobs/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { CliContext } from './context.js';
import { checkBalancer, type BalancerInput } from '../doctor/balancer-checks.js';
import { checkDatabase, checkSessions } from '../doctor/database-checks.js';
import { fault, reasonOf, skipped, type Finding, type FindingState } from '../doctor/finding.js';
import { checkApplications } from '../doctor/application-check.js';
import { checkKeys } from '../doctor/key-checks.js';
import { checkSlurm, checkSlurmSites } from '../doctor/slurm-checks.js';
import { checkDisk, checkStore } from '../doctor/storage-checks.js';
import { isolationFinding } from '../doctor/isolation-check.js';
import { checkTrust } from '../doctor/trust-checks.js';
import { checkBorders } from '../doctor/vo-check.js';
import { jsonOption, outputOption, show, type Printing } from '../terminal/output-format.js';

interface DoctorOptions extends BalancerInput, Printing {}

const NEEDS_SCHEMA = 'not tried: the database lacks the schema of this version';

/**
 * `gridgate doctor`: looks at everything an instance depends on, as it will be used, with the environment of the
 * service, and says what is wrong and what to do. Changes nothing. Exit 1 when there is a fault, warnings are 0.
 */
export function doctorCommand(context: CliContext): Command {
  return new Command('doctor')
    .description('look at everything an instance depends on, and say what is wrong')
    .option('--cert <file>', "a registered user's certificate, to try the way through the balancer")
    .option('--key <file>', 'its key')
    .option('--ca <file>', "CA of the server's certificate, where it is one of your own")
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: DoctorOptions) => {
      await readable(options);
      const findings = await examine(context, options);
      await show(options, { findings, faults: faultsOf(findings) }, () => lines(findings));
      const faults = faultsOf(findings);
      if (faults > 0) throw new CommandError(`${faults} ${faults === 1 ? 'fault' : 'faults'}`, 1);
    });
}

/** A file that was named and cannot be read is a mistake of the call, not a finding. */
async function readable(options: BalancerInput): Promise<void> {
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new CommandError('--cert and --key must be given together', 2);
  }
  for (const name of ['cert', 'key', 'ca'] as const) {
    const path = options[name];
    if (path === undefined) continue;
    await access(path, constants.R_OK).catch((error: unknown) => {
      throw new CommandError(
        `--${name} ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
        2,
      );
    });
  }
}

async function examine(context: CliContext, options: DoctorOptions): Promise<Finding[]> {
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
      ...(await checkSlurm(context.config, { owners, groups })),
      ...(await checkSlurmSites(context.config, contents.sites, { owners, groups })),
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

function faultsOf(findings: Finding[]): number {
  return findings.filter(({ state }) => state === 'fault').length;
}

const WORDS: Record<FindingState, string> = {
  ok: 'ok      ',
  warning: 'warning ',
  fault: 'FAULT   ',
  skipped: 'skipped ',
};

function lines(findings: Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings.flatMap(({ check, state, text, advice }) => [
    `${WORDS[state]} ${check.padEnd(width)}  ${text}`,
    ...(advice === undefined ? [] : [`${' '.repeat(width + 11)}→ ${advice}`]),
  ]);
}

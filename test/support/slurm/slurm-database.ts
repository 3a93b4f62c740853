import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Daemon, waitUntil } from '../daemon.js';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 60_000;
const START_MS = 60_000;

/** mariadbd refuses to work as root. */
const DATABASE_USER = { uid: 65_534, gid: 65_534 };

/** slurmdbd and the MariaDB behind it, of one cluster alone: below its directory, on loopback ports of their own. */
export class SlurmDatabase {
  private constructor(
    /** Lines of slurm.conf. */
    readonly settings: Readonly<Record<string, string | number>>,
    private readonly clusterName: string,
    private readonly database: Daemon,
    private readonly daemon: Daemon,
  ) {}

  /** Writes what they need, and makes an empty database. */
  static async furnish(
    directory: string,
    [databasePort = 0, daemonPort = 0]: readonly number[],
  ): Promise<SlurmDatabase> {
    const at = (name: string): string => join(directory, name);
    const password = randomBytes(16).toString('hex');
    await mkdir(at('mariadb'));
    await chown(at('mariadb'), DATABASE_USER.uid, DATABASE_USER.gid);
    await run(
      'mariadb-install-db',
      [
        ...['--no-defaults', '--skip-test-db', '--skip-name-resolve'],
        ...['--auth-root-authentication-method=normal', `--datadir=${at('mariadb')}/data`],
      ],
      { ...DATABASE_USER, cwd: at('mariadb'), timeout: INSTALL_TIMEOUT_MS },
    );
    const account = "'slurm'@'127.0.0.1'";
    const first = [
      'create database if not exists slurm_acct;',
      `create user if not exists ${account} identified by '${password}';`,
      `grant all on slurm_acct.* to ${account};`,
    ];
    await writeFile(at('mariadb.sql'), `${first.join('\n')}\n`, { mode: 0o644 });
    await writeFile(
      at('slurmdbd.conf'),
      slurmdbdConf(directory, { databasePort, daemonPort, password }),
      {
        mode: 0o600,
      },
    );
    const database = new Daemon({
      program: 'mariadbd',
      args: [
        ...['--no-defaults', `--datadir=${at('mariadb')}/data`, `--init-file=${at('mariadb.sql')}`],
        ...[`--socket=${at('mariadb')}/socket`, `--pid-file=${at('mariadb')}/pid`],
        ...['--bind-address=127.0.0.1', `--port=${databasePort}`, '--skip-name-resolve'],
        ...['--innodb-buffer-pool-size=64M', '--innodb-lock-wait-timeout=900'],
      ],
      ...DATABASE_USER,
      env: { GRID_TEST_PLACE: directory },
      log: at('mariadbd.log'),
    });
    const env = { SLURM_CONF: at('slurm.conf'), GRID_TEST_PLACE: directory };
    const daemon = new Daemon({ program: 'slurmdbd', args: ['-D'], env, log: at('dbd.out') });
    const settings = {
      AccountingStorageType: 'accounting_storage/slurmdbd',
      AccountingStorageHost: '127.0.0.1',
      AccountingStoragePort: daemonPort,
      AccountingStoragePass: `${directory}/munge/socket`,
      JobAcctGatherType: 'jobacct_gather/linux',
      JobAcctGatherFrequency: 1,
    };
    return new SlurmDatabase(settings, 'gridtest', database, daemon);
  }

  /** Starts both and tells them the cluster, through `sacctmgr`. */
  async start(sacctmgr: (...args: string[]) => Promise<string>): Promise<void> {
    this.database.start();
    this.daemon.start();
    await waitUntil(
      async () => {
        // slurmdbd gives up when the database does not answer yet.
        if (!this.daemon.isRunning) this.daemon.start();
        return sacctmgr('-n', 'show', 'cluster').then(
          () => true,
          () => false,
        );
      },
      'slurmdbd',
      START_MS,
    );
    await sacctmgr('-i', 'add', 'cluster', this.clusterName);
  }

  /** kill -9 of slurmdbd. */
  async kill(): Promise<void> {
    await this.daemon.end('SIGKILL');
  }

  /** Starts slurmdbd again. */
  again(): void {
    this.daemon.start();
  }

  async end(): Promise<void> {
    await this.daemon.end();
    await this.database.end();
  }
}

function slurmdbdConf(
  directory: string,
  access: { databasePort: number; daemonPort: number; password: string },
): string {
  const settings = {
    AuthType: 'auth/munge',
    AuthInfo: `socket=${directory}/munge/socket`,
    AuthAltTypes: 'auth/jwt',
    AuthAltParameters: `jwt_key=${directory}/jwt.key`,
    DbdHost: hostname().split('.')[0] ?? 'localhost',
    DbdAddr: '127.0.0.1',
    DbdPort: access.daemonPort,
    SlurmUser: 'root',
    StorageType: 'accounting_storage/mysql',
    StorageHost: '127.0.0.1',
    StoragePort: access.databasePort,
    StorageUser: 'slurm',
    StoragePass: access.password,
    StorageLoc: 'slurm_acct',
    LogFile: `${directory}/slurmdbd.log`,
    PidFile: `${directory}/slurmdbd.pid`,
  };
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
}

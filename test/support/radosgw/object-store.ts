import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Daemon, endProcessesBelow, waitUntil } from '../daemon.js';
import { freePorts } from '../ports.mjs';
import { radosgwFault } from './packages.js';

const run = promisify(execFile);
const COMMAND_TIMEOUT_MS = 60_000;

/** Keys of an account of the store. */
export interface S3Keys {
  accessKey: string;
  secretKey: string;
}

interface Places {
  directory: string;
  conf: string;
  monitorPort: number;
  gatewayPort: number;
  fsid: string;
}

/**
 * A Ceph of one monitor, one OSD (in memory) and one radosgw: an S3 store that checks signatures, dates and
 * conditions. Everything in one directory, on loopback addresses only.
 */
export class ObjectStore {
  constructor(
    readonly directory: string,
    readonly url: string,
    readonly keys: S3Keys,
    private readonly monitor: Daemon,
    private readonly osd: Daemon,
    readonly gateway: Daemon,
  ) {}

  /** kill -9 of the gateway: the store is away, its data is not. */
  async killGateway(): Promise<void> {
    await this.gateway.end('SIGKILL');
  }

  /** Starts the gateway (again) and waits until it answers. */
  async startGateway(): Promise<void> {
    this.gateway.start();
    await waitUntil(() => answers(this.url), 'radosgw', 60_000);
  }

  /** What the daemons have said, for messages. */
  async logs(): Promise<string> {
    const texts = ['mon', 'osd', 'rgw'].map(async (name) => {
      const text = await readFile(join(this.directory, `${name}.out`), 'utf8').catch(() => '');
      return `--- ${name}\n${text.slice(-2_000)}`;
    });
    return (await Promise.all(texts)).join('\n');
  }

  /** Starts monitor, OSD and gateway, one after the other. */
  async start(places: Places): Promise<void> {
    this.monitor.start();
    await this.createOsd(places);
    this.osd.start();
    await waitUntil(
      async () => (await ceph(places, 'osd', 'stat')).includes('1 up'),
      'the OSD',
      60_000,
    );
    await this.startGateway();
    const keys = ['--access-key', this.keys.accessKey, '--secret-key', this.keys.secretKey];
    const user = ['user', 'create', '--uid=grid', '--display-name=grid', ...keys];
    await run('radosgw-admin', ['-c', places.conf, ...user], { timeout: COMMAND_TIMEOUT_MS });
  }

  /** Ends all daemons and removes the directory. */
  async stop(): Promise<void> {
    for (const daemon of [this.gateway, this.osd, this.monitor]) await daemon.end('SIGKILL');
    await endProcessesBelow(this.directory);
    await rm(this.directory, { recursive: true, force: true });
  }

  private async createOsd(places: Places): Promise<void> {
    const { directory, conf } = places;
    const uuid = randomUUID();
    await waitUntil(
      () =>
        ceph(places, 'status').then(
          () => true,
          () => false,
        ),
      'the monitor',
      30_000,
    );
    await ceph(places, 'osd', 'new', uuid);
    const data = join(directory, 'osd.0');
    await mkdir(data);
    const capabilities = ['mon', 'allow profile osd', 'osd', 'allow *'];
    await ceph(places, 'auth', 'get-or-create', 'osd.0', ...capabilities, '-o', `${data}/keyring`);
    const make = ['-c', conf, '-i', '0', '--mkfs', '--osd-uuid', uuid, '--no-mon-config'];
    await run('ceph-osd', make, { timeout: COMMAND_TIMEOUT_MS });
  }
}

/** Starts the store with one account. Throws with a clear sentence when a package is missing. */
export async function startObjectStore(): Promise<ObjectStore> {
  const fault = radosgwFault();
  if (fault !== undefined) throw new Error(`radosgw cannot be started: ${fault}`);
  const directory = await mkdtemp(join(tmpdir(), 'grid-ceph-'));
  const [monitorPort = 0, gatewayPort = 0] = await freePorts(2);
  const conf = join(directory, 'ceph.conf');
  const places = { directory, conf, monitorPort, gatewayPort, fsid: randomUUID() };
  await furnish(places);
  const store = assemble(places);
  try {
    await store.start(places);
  } catch (error) {
    const logs = await store.logs();
    await store.stop();
    throw new Error(`radosgw does not start: ${(error as Error).message}\n${logs}`, {
      cause: error,
    });
  }
  return store;
}

function confOf({ directory, monitorPort, gatewayPort, fsid }: Places): string {
  return `[global]
fsid = ${fsid}
mon initial members = a
mon host = [v2:127.0.0.1:${monitorPort}/0]
public network = 127.0.0.0/8
cluster network = 127.0.0.0/8
ms bind ipv4 = true
ms bind msgr1 = false
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = ${directory}/keyring
run dir = ${directory}
admin socket = ${directory}/$cluster-$name.asok
log file = ${directory}/$name.log
pid file =
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd crush chooseleaf type = 0
mon allow pool size one = true
mon pg warn min per osd = 0
mon warn on pool no redundancy = false
mon max pg per osd = 1000
[mon.a]
mon data = ${directory}/mon.a
mon addr = 127.0.0.1:${monitorPort}
[osd]
osd objectstore = memstore
memstore device bytes = 2147483648
osd data = ${directory}/osd.$id
keyring = ${directory}/osd.$id/keyring
osd class load list = *
osd class default list = *
[client.rgw]
keyring = ${directory}/keyring
rgw frontends = beast endpoint=127.0.0.1:${gatewayPort}
rgw thread pool size = 32
rgw data = ${directory}/rgw
rgw enable usage log = false
rgw verify ssl = false
`;
}

async function furnish(places: Places): Promise<void> {
  const { directory, conf, monitorPort, fsid } = places;
  const keyring = join(directory, 'keyring');
  const map = join(directory, 'monmap');
  await mkdir(join(directory, 'mon.a'));
  await mkdir(join(directory, 'rgw'));
  await writeFile(conf, confOf(places));
  const options = { timeout: COMMAND_TIMEOUT_MS };
  const all = ['--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *', '--cap', 'mgr', 'allow *'];
  const create = [
    '--create-keyring',
    keyring,
    '--gen-key',
    '-n',
    'mon.',
    '--cap',
    'mon',
    'allow *',
  ];
  await run('ceph-authtool', create, options);
  for (const name of ['client.admin', 'client.rgw']) {
    await run('ceph-authtool', [keyring, '--gen-key', '-n', name, ...all], options);
  }
  const address = `[v2:127.0.0.1:${monitorPort}/0]`;
  await run('monmaptool', ['--create', '--addv', 'a', address, '--fsid', fsid, map], options);
  const make = ['-c', conf, '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keyring];
  await run('ceph-mon', make, options);
}

function assemble({ directory, conf, gatewayPort }: Places): ObjectStore {
  const env = { GRID_TEST_PLACE: directory };
  const at = (name: string) => join(directory, name);
  const monitor = new Daemon({
    program: 'ceph-mon',
    args: ['-c', conf, '-f', '-i', 'a'],
    env,
    log: at('mon.out'),
  });
  const osd = new Daemon({
    program: 'ceph-osd',
    args: ['-c', conf, '-f', '-i', '0'],
    env,
    log: at('osd.out'),
  });
  const gateway = new Daemon({
    program: 'radosgw',
    args: ['-c', conf, '-f', '-n', 'client.rgw'],
    env,
    log: at('rgw.out'),
  });
  const keys = {
    accessKey: `GRID${randomBytes(8).toString('hex').toUpperCase()}`,
    secretKey: randomBytes(20).toString('hex'),
  };
  return new ObjectStore(directory, `http://127.0.0.1:${gatewayPort}`, keys, monitor, osd, gateway);
}

async function ceph({ conf }: { conf: string }, ...args: string[]): Promise<string> {
  const options = ['-c', conf, '--connect-timeout', '10', ...args];
  const { stdout } = await run('ceph', options, { timeout: COMMAND_TIMEOUT_MS });
  return stdout;
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    (answer) => answer.status < 500,
    () => false,
  );
}

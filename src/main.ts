import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { SERVING } from './app/serving-processes.js';
import { ConfigurationFault, readConfig, type Config } from '#src/config/index.js';
import { HttpServer } from '#src/http/index.js';

/** How many times as large V8 makes its space for new objects when more of them live on. */
const NEW_SPACE_GROWTH = 2;

/**
 * What a start makes is many objects that live on, and V8 answers that with 32 MiB for new ones, which an idle server does not
 * need and keeps. So the space grows from the first request on, not before.
 */
function growNewSpace(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/** Says what is wrong in words for people and ends the process. */
function fail(error: unknown): never {
  const lines =
    error instanceof ConfigurationFault
      ? error.faults
      : [error instanceof Error ? error.message : String(error)];
  for (const line of lines) process.stderr.write(`gridgate: ${line}\n`);
  if (process.env['GRID_LOG_LEVEL'] === 'debug' && error instanceof Error) {
    process.stderr.write(`${error.stack}\n`);
  }
  process.exit(1);
}

/** What the first process says to one that only serves. */
interface Place {
  number: number;
  environment: Record<string, string>;
}

/** The place of this process among those of one port; undefined for the first one. */
async function givenPlace(): Promise<Place | undefined> {
  if (process.argv[2] !== SERVING || !process.connected) return undefined;
  // Without the first one there are no jobs, and nobody to start it again would find its port free.
  process.once('disconnect', () => process.exit(1));
  return new Promise((resolve) => process.once('message', resolve));
}

async function configuration(): Promise<Config> {
  const config = readConfig(process.env);
  if (config.port !== 0) return config;
  const port = String(await HttpServer.reservePort(config.host));
  return readConfig({ ...process.env, GRID_PORT: port });
}

async function main(): Promise<void> {
  growNewSpace(1);
  const place = await givenPlace();
  const config = place
    ? readConfig({ ...process.env, ...place.environment })
    : await configuration();
  // A bad value is told before the rest of the service is loaded.
  const { GridServer } = await import('./app/server.js');
  const server = new GridServer(config, place?.number);
  let stopping: Promise<void> | undefined;
  const stop = (): void => {
    stopping ??= server.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  try {
    await server.start();
  } catch (error) {
    if (stopping) return;
    await server.stop().catch(() => undefined);
    fail(error);
  }
  growNewSpace(NEW_SPACE_GROWTH);
  if (!place) process.stdout.write(`gridgate ready on ${config.publicUrl}\n`);
}

main().catch(fail);

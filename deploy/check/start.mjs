import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { inTemporaryDirectory, run } from './place.mjs';

const START_DEADLINE_MS = 90_000;

/** Starts the built layout with the image's own entry point and asks its own health check. */
export async function checkStart(report, stage, image) {
  const command = ['ENTRYPOINT', 'CMD'].flatMap((word) => JSON.parse(textOf(stage, word)));
  const probe = JSON.parse(textOf(stage, 'HEALTHCHECK').replace(/^.*?CMD\s+/, ''));
  const app = join(image, 'app');
  await inTemporaryDirectory(async (home) => {
    const port = await freePort();
    const env = {
      PATH: process.env.PATH,
      ...Object.fromEntries(
        textOf(stage, 'ENV')
          .split(/\s+/)
          .map((pair) => pair.split('=')),
      ),
      GRID_HOST: '127.0.0.1',
      GRID_HOME: home,
      GRID_PORT: String(port),
    };
    await report.run('image: refuses to start in production without certificates and key', () =>
      refusesToStart(command, { cwd: app, env }),
    );
    const key = randomBytes(32).toString('base64');
    const asked = {
      ...env,
      GRID_KEY_ENCRYPTION_KEY: key,
      GRID_DEVELOPMENT_CA: 'true',
      GRID_DEMO: 'true',
    };
    await report.run('image: starts, is healthy, stops on SIGTERM', () =>
      startsAndStops(command, { cwd: app, env: asked, probe }),
    );
  });
}

function textOf(stage, word) {
  const step = stage.steps.findLast((one) => one.word === word);
  if (step === undefined) throw new Error(`the image has no ${word}`);
  return step.text;
}

function start([program, ...args], { cwd, env }) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const state = { child, output: '', exited: once(child, 'exit') };
  for (const stream of [child.stdout, child.stderr]) {
    stream
      .setEncoding('utf8')
      .on('data', (text) => (state.output = (state.output + text).slice(-20_000)));
  }
  return state;
}

async function refusesToStart(command, options) {
  const state = start(command, options);
  const timer = setTimeout(() => state.child.kill('SIGKILL'), START_DEADLINE_MS);
  const [code] = await state.exited;
  clearTimeout(timer);
  if (
    code !== 1 ||
    !['GRID_TLS_CERT', 'GRID_KEY_ENCRYPTION_KEY'].every((name) => state.output.includes(name))
  ) {
    throw new Error(`it ended with ${code}:\n${state.output}`);
  }
}

async function startsAndStops(command, { cwd, env, probe }) {
  const state = start(command, { cwd, env });
  try {
    await healthy(state, { cwd, env, probe });
  } finally {
    state.child.kill('SIGTERM');
  }
  const timer = setTimeout(() => state.child.kill('SIGKILL'), 30_000);
  const [code, signal] = await state.exited;
  clearTimeout(timer);
  if (code !== 0) throw new Error(`it ended with ${signal ?? code}:\n${state.output}`);
}

async function healthy(state, { cwd, env, probe: [program, ...args] }) {
  const end = Date.now() + START_DEADLINE_MS;
  for (;;) {
    try {
      return await run(program, args, { cwd, env, seconds: 5 });
    } catch (error) {
      if (state.child.exitCode !== null || Date.now() > end) {
        throw new Error(`${error.message}\n${state.output}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

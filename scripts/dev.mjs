/** npm run dev: compiles while you edit and restarts the server on its embedded defaults after every build. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { buildWhenNeeded, root } from './run.mjs';

await buildWhenNeeded();
// Without it the server makes the OpenAPI document of the routes as they are now.
rmSync(`${root}/dist/src/app/openapi.json`, { force: true });
const options = { cwd: root, stdio: 'inherit' };
const compiler = spawn(process.execPath, ['scripts/compile.mjs', '--watch'], options);
const server = spawn(
  process.execPath,
  ['--watch', '--watch-preserve-output', 'dist/src/main.js'],
  options,
);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    compiler.kill('SIGTERM');
    server.kill('SIGTERM');
  });
}
server.on('exit', (code) => {
  compiler.kill('SIGTERM');
  process.exitCode = code ?? 0;
});

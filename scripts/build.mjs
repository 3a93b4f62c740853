/** Builds dist/ with the Nest compiler (the Swagger plugin adds schemas from the sources). */
import { rmSync } from 'node:fs';
import { root, run } from './run.mjs';

rmSync(`${root}/dist`, { recursive: true, force: true });
await run('node', ['node_modules/@nestjs/cli/bin/nest.js', 'build']);
await import('./build-portal.mjs');

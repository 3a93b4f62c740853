/** Writes the OpenAPI document: beside the built server, which only reads it, and with the default URL into docs/ for people. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const { describeApi } = await import('#src/app/describe-api.js');
const { writeBuiltDocument } = await import('#src/app/built-document.js');
await writeBuiltDocument(describeApi);
mkdirSync(join(root, 'docs'), { recursive: true });
writeFileSync(join(root, 'docs/openapi.json'), `${JSON.stringify(await describeApi(), null, 2)}\n`);
process.exit(0);

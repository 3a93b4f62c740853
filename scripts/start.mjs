/** npm start: builds when needed, then becomes the server. */
import { buildWhenNeeded, root } from './run.mjs';

await buildWhenNeeded();
await import(`${root}/dist/src/main.js`);

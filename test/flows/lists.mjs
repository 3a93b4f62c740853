/** Which flow suites run when; all that are in this folder run at night. */
import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const path = (name) => join(relative(process.cwd(), folder), `${name}.flow-spec.ts`);

/** Kills, overload and storms: these take the whole machine, so they run one at a time. */
export const ALONE = [
  'array-kills',
  'catalogue-feed-model',
  'database-loss',
  'demo-everywhere',
  'feed-kills',
  'feed-model',
  'feed-streams',
  'filecatalogue-writers',
  'flood',
  'hostile-programs',
  'instance-loss',
  'job-dependencies',
  'job-faults',
  'job-limits',
  'job-matching',
  'large-data',
  'overload',
  'share-simulation',
  'storage-faults',
  'upgrade',
  'webhooks-instances',
  'worker-crowd',
  'worker-networks', // makes network interfaces, at which browsers beside it end their requests
].map(path);

/** What .ci/run runs, two at once: one suite of each kind of thing that only a whole machine shows. */
export const CI_FLOWS = [
  'database-pooler',
  'database-connections',
  'job-life-slurm',
  'load-balancer',
  'browser-demo',
  'job-faults',
  'instance-loss',
  'upgrade',
  'backup-restore',
  'package',
  'python-package',
  'sandbox-s3',
  'command',
  'command-admin',
  'command-jobs',
  'command-results',
  'documentation',
  'older-client',
  'authlib-client',
  'browser-portal',
  'browser-form',
  'browser-new-job',
  'openid-judges',
  'storage-files',
  'storage-judges',
  'storage-page',
  'storage-s3',
  'archive-readers',
  'audit-trail-kept',
  'callers',
  'registry-restarts',
  'processes',
  'slow-clients',
  'slow-readers',
  'start',
  'starting',
  'demo',
].map(path);

/** All that need no machine of their own. */
export const NIGHTLY_FLOWS = readdirSync(folder)
  .filter((name) => name.endsWith('.flow-spec.ts'))
  .map((name) => path(name.replace('.flow-spec.ts', '')))
  .filter((name) => !ALONE.includes(name));

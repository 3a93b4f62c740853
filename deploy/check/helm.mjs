import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { deploy, has, inTemporaryDirectory, root, run } from './place.mjs';

const CHART = join(deploy, 'helm/gridgate');
const RENDERED = join(deploy, 'kubernetes/gridgate.yaml');
const CRDS = join(root, '.tools/crds');
const KUBERNETES = '1.30';
const HEADING = `# What the chart in deploy/helm/gridgate makes of its defaults, for those who do not use Helm.
# Written by: node deploy/check.mjs helm --write. Look through it, adapt it, kubectl apply -f.
`;

/** Ways to use the chart: each is rendered and judged. */
const USES = {
  'the defaults': [],
  'certificates forwarded by the load balancer': [
    'clientCertificates.mode=forwarded',
    'clientCertificates.trustedProxies={10.42.7.0/24}',
    'clientCertificates.header=x-ssl-client-cert',
  ],
  'a Gateway of yours, another port of the address, more settings': [
    'gateway.name=shared',
    'gateway.namespace=gateways',
    'publicUrl=https://grid.example.org:9443',
    'settings.GRID_DB_POOL=20',
    'settings.GRID_CATALOGUE_GLOBAL_READ=false',
  ],
  'nothing but the instances that answer': [
    'gateway.enabled=false',
    'worker.replicas=0',
    'networkPolicy.enabled=false',
  ],
};

/** Values that must be refused, with a part of the reason. */
const REFUSALS = [
  ['clientCertificates.mode=forwarded', 'trustedProxies'],
  ['publicUrl=http://grid.example.org', 'publicUrl'],
  ['clientCertificates.mode=both', 'mode'],
  ['sandboxStore=sandboxes', 'sandboxStore'],
  ['replicas=3', 'replicas'],
];

/** The chart: lint, every use rendered and judged by the API server's schemas, what must be refused, the rendered copy. */
export async function checkHelm(report, { write = false } = {}) {
  if (!has('helm')) {
    report.leftOut('the Helm chart', 'helm is not installed; deploy/check/tools.sh builds it');
    return;
  }
  await report.run('the chart has the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const chart = parse(await readFile(join(CHART, 'Chart.yaml'), 'utf8'));
    if (chart.version === version && chart.appVersion === version) return;
    throw new Error(`${chart.version} and ${chart.appVersion}, not ${version}`);
  });
  await report.run('helm lint --strict', () =>
    run('helm', ['lint', '--strict', '--kube-version', KUBERNETES, CHART], { seconds: 60 }),
  );
  for (const [use, settings] of Object.entries(USES)) {
    await report.run(`helm template: ${use}`, async () => judged(await render(settings)));
  }
  for (const [setting, reason] of REFUSALS) {
    await report.run(`helm template refuses ${setting}`, () => refused([setting], reason));
  }
  const text = HEADING + (await render([]));
  if (write) await writeFile(RENDERED, text);
  await report.run('kubernetes/gridgate.yaml is what the chart makes', async () => {
    if ((await readFile(RENDERED, 'utf8')) === text) return;
    throw new Error('it differs: run node deploy/check.mjs helm --write');
  });
}

function render(settings) {
  const chosen = settings.flatMap((setting) => ['--set', setting]);
  const words = ['template', 'gridgate', CHART, '--kube-version', KUBERNETES, ...chosen];
  return run('helm', words, { seconds: 60 });
}

async function judged(text) {
  if (!has('kubectl-validate')) return;
  await inTemporaryDirectory(async (directory) => {
    const file = join(directory, 'rendered.yaml');
    await writeFile(file, text);
    await run('kubectl-validate', [file, '--local-crds', CRDS, '--version', KUBERNETES], {
      seconds: 120,
    });
  });
}

async function refused(settings, reason) {
  const fault = await render(settings).then(
    () => 'it was taken',
    (error) => error.message,
  );
  if (!fault.includes(reason)) throw new Error(`expected a refusal that names ${reason}: ${fault}`);
}

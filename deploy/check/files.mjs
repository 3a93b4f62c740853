import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { selfSigned } from '../../bench/frame/self-signed.mjs';
import { deploy, has, inTemporaryDirectory, root, run } from './place.mjs';
import { localNginx, localHaproxy } from './local.mjs';

/** Every configuration file, by the program that reads it where that is installed. */
export async function checkFiles(report) {
  await inTemporaryDirectory(async (directory) => {
    const place = await tlsFiles(directory);
    await withProgram(report, 'nginx', async () => {
      for (const name of await filesOf('nginx', '.conf')) await checkNginx(report, name, place);
    });
    await withProgram(report, 'haproxy', async () => {
      for (const name of await filesOf('haproxy', '.cfg')) await checkHaproxy(report, name, place);
    });
  });
  await checkYaml(report);
  await withProgram(report, 'systemd-analyze', () => checkUnit(report));
  await withProgram(report, 'actionlint', () =>
    report.run('.github/workflows: actionlint', () => run('actionlint', [], { cwd: root })),
  );
}

async function withProgram(report, program, check) {
  if (has(program)) await check();
  else report.leftOut(`what ${program} reads`, `${program} is not installed`);
}

async function filesOf(folder, ending) {
  return (await readdir(join(deploy, folder))).filter((name) => name.endsWith(ending)).sort();
}

/** The certificate files that the configurations name, for a check. */
async function tlsFiles(directory) {
  const { cert, key } = await selfSigned();
  const files = {
    'server.crt': cert,
    'server.key': key,
    'server.pem': `${cert}\n${key}`,
    'client-ca.pem': cert,
    'server-ca.pem': cert,
  };
  await mkdir(join(directory, 'tls'), { recursive: true });
  for (const [name, text] of Object.entries(files))
    await writeFile(join(directory, 'tls', name), text);
  return { directory, port: 42_440, instances: ['127.0.0.1:42441', '127.0.0.1:42442'] };
}

async function checkNginx(report, name, place) {
  const text = localNginx(await readFile(join(deploy, 'nginx', name), 'utf8'), place);
  if (/^stream\b/m.test(text) && !(await nginxHasStream())) {
    report.leftOut(`nginx/${name}`, 'this nginx has no stream module');
    return;
  }
  const file = join(place.directory, name);
  await writeFile(file, text);
  await report.run(`nginx/${name}: nginx -t`, () =>
    run('nginx', ['-t', '-c', file], { seconds: 20 }),
  );
}

async function nginxHasStream() {
  const probe =
    'nginx -V 2>&1 | grep -q -- --with-stream= || ls /etc/nginx/modules-enabled/*stream* || nginx -V 2>&1 | grep -qE -- "--with-stream( |$)"';
  return run('sh', ['-c', probe], { seconds: 10 }).then(
    () => true,
    () => false,
  );
}

async function checkHaproxy(report, name, place) {
  const file = join(place.directory, name);
  await writeFile(file, localHaproxy(await readFile(join(deploy, 'haproxy', name), 'utf8'), place));
  await report.run(`haproxy/${name}: haproxy -c`, async () => {
    // -dW: a warning is a failure, so that an upgrade of HAProxy is noticed here.
    await run('haproxy', ['-c', '-dW', '-f', file], { seconds: 20 });
  });
}

async function checkYaml(report) {
  const names = [
    'compose.yaml',
    'compose/registry.example.yaml',
    ...(await filesOf('kubernetes', '.yaml')).map((name) => `kubernetes/${name}`),
  ];
  for (const name of names) {
    await report.run(`${name}: YAML`, async () => {
      const documents = parseAllDocuments(await readFile(join(deploy, name), 'utf8'), {
        merge: true,
      });
      const faults = documents.flatMap((document) => [...document.errors, ...document.warnings]);
      if (faults.length > 0) throw new Error(faults.map(String).join('\n'));
      for (const document of documents) document.toJS();
    });
  }
}

async function checkUnit(report) {
  await inTemporaryDirectory(async (directory) => {
    // The programs of the unit are not on this machine: verify its form with ones that are.
    const text = await readFile(join(deploy, 'systemd/gridgate@.service'), 'utf8');
    const file = join(directory, 'gridgate@.service');
    await writeFile(file, text.replaceAll('/usr/bin/node', '/bin/true'));
    await report.run('systemd/gridgate@.service: systemd-analyze verify', () =>
      run('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', file], {
        seconds: 30,
      }),
    );
  });
}

import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeWith, has, pythonWith } from '../support/missing.js';
import { startGrid, support, type Grid } from '../support/testbed.js';

/** Generators of these versions have been tried. */
const VERSIONS = {
  typescript: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'],
  python: 'openapi-python-client==0.29.1',
  go: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2',
  java: '7.12.0',
};
/** How each library of Java is told where the service is and what its token is. */
const CONNECT = {
  native:
    'client.updateBaseUri(System.getenv("GRID")); client.setRequestInterceptor(request -> request.header("Authorization", token));',
  'okhttp-gson':
    'client.setBasePath(System.getenv("GRID")); client.addDefaultHeader("Authorization", token);',
};
const LONG = 15 * 60_000;

const python = pythonWith('venv, ensurepip');
let grid: Grid;
let folder: string;
let env: NodeJS.ProcessEnv;

/** Runs a program in a folder; what it said is shown where it fails. */
async function run(cwd: string, program: string, ...words: string[]): Promise<string> {
  const options = { cwd, env, maxBuffer: 2 ** 26, timeout: LONG };
  const { stdout } = await promisify(execFile)(program, words, options).catch((error: unknown) => {
    const { message, stdout: said } = error as Error & { stdout: string };
    throw new Error(`${message}\n${said.slice(-4000)}`);
  });
  return stdout.trim();
}

/** A folder of its own with the document and the program that uses the generated client. */
async function place(name: string, program: string, as = program): Promise<string> {
  const made = join(folder, name);
  await mkdir(made, { recursive: true });
  const { root } = support();
  await copyFile(join(root, 'docs/openapi.json'), join(made, 'openapi.json'));
  await copyFile(join(root, 'test/support/openapi/clients', program), join(made, as));
  return made;
}

beforeAll(async () => {
  grid = await startGrid();
  folder = await mkdtemp(join(tmpdir(), 'grid-generated-'));
  const ca = join(grid.home, 'pki/ca.crt');
  env = { ...process.env, GRID: grid.url, CA: ca, TOKEN: await grid.token('alice', 'grid_user') };
});

afterAll(async () => {
  await grid?.remove();
  if (folder && has('go')) await run(folder, 'chmod', '-R', 'u+w', '.'); // modules are read-only
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Each lists jobs, submits one and reads it. */
describe('a client that is generated', () => {
  it('for TypeScript by openapi-typescript is compiled and works', async () => {
    const made = await place('typescript', 'main.ts.txt', 'main.ts');
    await writeFile(join(made, 'package.json'), '{"type":"module","private":true}');
    await run(made, 'npm', 'install', '--ignore-scripts', ...VERSIONS.typescript);
    await run(made, 'npx', 'openapi-typescript', 'openapi.json', '-o', 'grid.d.ts');
    const modules = join(support().root, 'node_modules');
    const compilerOptions = {
      ...{ strict: true, noUncheckedIndexedAccess: true, module: 'nodenext', target: 'es2022' },
      ...{ types: ['node'], typeRoots: [join(modules, '@types')] },
    };
    const project = { compilerOptions, files: ['main.ts', 'grid.d.ts'] };
    await writeFile(join(made, 'tsconfig.json'), JSON.stringify(project));
    await run(made, join(modules, '.bin/tsc'), '-p', '.');
    env['NODE_EXTRA_CA_CERTS'] = env['CA'];
    expect(await run(made, process.execPath, 'main.js')).toBe('true true ts');
  });
});

describeWith({ met: python !== undefined, name: 'python3-venv' })('a generated client', () => {
  it('for Python by openapi-python-client works', async () => {
    const made = await place('python', 'main.py');
    await run(made, python ?? 'python3', '-m', 'venv', 'venv');
    await run(made, 'venv/bin/pip', '-q', 'install', VERSIONS.python);
    const words = ['generate', '--path', 'openapi.json', '--output-path', 'made', '--meta', 'none'];
    await run(made, 'venv/bin/openapi-python-client', ...words);
    expect(await run(made, 'venv/bin/python', 'main.py')).toBe('true true python');
  });
});

describeWith({ met: has('go'), name: 'go' })('a generated client', () => {
  it('for Go by oapi-codegen is compiled and works', async () => {
    const made = await place('go', 'main.go');
    await mkdir(join(made, 'grid'));
    await writeFile(join(made, 'go.mod'), 'module example.test/client\n\ngo 1.24\n');
    env['GOBIN'] = join(made, 'bin');
    await run(made, 'go', 'install', VERSIONS.go);
    const words = ['-generate', 'types,client', '-package', 'grid', 'openapi.json'];
    await run(made, join(made, 'bin/oapi-codegen'), '-o', 'grid/grid.go', ...words);
    await run(made, 'go', 'mod', 'tidy');
    await run(made, 'go', 'build', '-o', 'client', '.');
    env['SSL_CERT_FILE'] = env['CA']; // the client's alone: Go's own downloads need the usual ones
    expect(await run(made, './client')).toBe('true true go');
    delete env['SSL_CERT_FILE'];
  });
});

describeWith({ met: has('javac') && has('mvn'), name: 'java and maven' })(
  'a generated client',
  () => {
    it.each(Object.entries(CONNECT))(
      'for Java with %s is compiled and works',
      async (name, text) => {
        const made = await place(`java-${name}`, 'Main.java');
        const { java: version } = VERSIONS;
        const artifact = `org.openapitools:openapi-generator-cli:${version}`;
        await run(made, 'mvn', '-q', 'dependency:get', `-Dartifact=${artifact}`);
        const jars = '.m2/repository/org/openapitools/openapi-generator-cli';
        const jar = join(homedir(), jars, version, `openapi-generator-cli-${version}.jar`);
        await run(
          made,
          'java',
          ...['-jar', jar, 'generate', '-i', 'openapi.json', '-g', 'java', '--library', name],
          ...['-o', 'made', '--additional-properties=openApiNullable=false'],
          // shapes of forms are made only when asked for
          '--global-property=skipFormModel=false,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false',
        );
        const main = (await readFile(join(made, 'Main.java'), 'utf8')).replace('// connect', text);
        await writeFile(join(made, 'made/src/main/java/Main.java'), main);
        const path = ['dependency:build-classpath', '-Dmdep.outputFile=path'];
        await run(join(made, 'made'), 'mvn', '-q', 'compile', ...path);
        const keys = ['-keystore', 'trust', '-storepass', 'changeit', '-storetype', 'PKCS12'];
        const certificate = ['-importcert', '-noprompt', '-alias', 'ca', '-file', env['CA'] ?? ''];
        await run(made, 'keytool', ...certificate, ...keys);
        const classes = `made/target/classes:${await readFile(join(made, 'made/path'), 'utf8')}`;
        const trust = ['trustStore=trust', 'trustStorePassword=changeit'];
        const words = trust.map((word) => `-Djavax.net.ssl.${word}`);
        expect(await run(made, 'java', ...words, '-cp', classes, 'Main')).toBe('true true java');
      },
    );
  },
);

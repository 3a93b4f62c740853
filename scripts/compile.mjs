/** Compiles as nest-cli.json says, with `--watch` after every edit: what `nest build` does, whose CLI wants a newer Node. */
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';
import { root, run } from './run.mjs';

const { compilerOptions: nest } = JSON.parse(readFileSync(`${root}/nest-cli.json`, 'utf8'));
const plugins = await Promise.all(nest.plugins.map(({ name }) => import(`${name}/plugin`)));

/** What is imported as `#src/…` gets a relative path, so that dist/ is whole without package.json. */
const relativePaths = (context) => (file) => {
  const visit = (node) => {
    if (node.moduleSpecifier) return ts.visitEachChild(node, visit, context);
    if (!ts.isStringLiteral(node) || !node.text.startsWith('#src/')) return node;
    const path = posix.relative(dirname(file.fileName), join(root, node.text.slice(1)));
    return ts.factory.createStringLiteral(path.replace(/^(?!\.)/, './'));
  };
  return ts.visitEachChild(file, visit, context);
};

function createProgram(...words) {
  const builder = ts.createEmitAndSemanticDiagnosticsBuilderProgram(...words);
  const { emit } = builder;
  const hooks = plugins.map((it, at) => it.before(nest.plugins[at].options, builder.getProgram()));
  const changes = { before: [relativePaths, ...hooks], afterDeclarations: [relativePaths] };
  builder.emit = (file, write) => emit(file, write, undefined, false, changes);
  return builder;
}

const system = { ...ts.sys, write: (text) => process.stderr.write(text) };
const configFile = join(root, nest.tsConfigPath);

/** What the typed client, which is made from the service's document, is not needed for. */
const isOfService = (file) => !/\/src\/(client|cli)\//.test(file);

if (process.argv.includes('--watch')) {
  const report = ({ messageText }) => system.write(`${messageText}\n`);
  const words = [configFile, {}, system, createProgram, undefined, report];
  ts.createWatchProgram(ts.createWatchCompilerHost(...words));
} else {
  const { options } = readConfig();
  const host = ts.createIncrementalCompilerHost(options, system);
  const { getSourceFile } = host;
  const files = new Map();
  host.getSourceFile = (name, ...how) => {
    if (!files.has(name)) files.set(name, getSourceFile.call(host, name, ...how));
    return files.get(name);
  };
  const service = compile(readConfig().fileNames.filter(isOfService));
  await run('node', ['scripts/build-document.mjs']);
  await run('node', ['scripts/write-client.mjs']);
  compile(readConfig().fileNames, service);

  function compile(rootNames, before) {
    const program = createProgram(rootNames, options, host, before);
    const faults = [
      ...program.getOptionsDiagnostics(),
      ...program.getGlobalDiagnostics(),
      ...program.getSyntacticDiagnostics(),
      ...program.getSemanticDiagnostics(),
    ];
    if (faults.length > 0) {
      system.write(ts.formatDiagnosticsWithColorAndContext(faults, host));
      process.exit(1);
    }
    program.emit();
    return program;
  }
}

function readConfig() {
  return ts.getParsedCommandLineOfConfigFile(
    configFile,
    {},
    {
      ...system,
      onUnRecoverableConfigFileDiagnostic: (it) => {
        throw new Error(ts.flattenDiagnosticMessageText(it.messageText, '\n'));
      },
    },
  );
}

/** Compiles as nest-cli.json says, with `--watch` after every edit: what `nest build` does, whose CLI wants a newer Node. */
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';
import { root } from './run.mjs';

const { compilerOptions: nest } = JSON.parse(readFileSync(`${root}/nest-cli.json`, 'utf8'));
const plugins = await Promise.all(nest.plugins.map(({ name }) => import(`${name}/plugin`)));
const watching = process.argv.includes('--watch');

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

function report({ messageText }, newLine, options, errors) {
  if (watching) system.write(`${messageText}\n`);
  process.exitCode = errors ? 1 : 0;
}

const system = { ...ts.sys, write: (text) => process.stderr.write(text) };
if (!watching) Object.assign(system, { watchFile: undefined, watchDirectory: undefined });
const words = [join(root, nest.tsConfigPath), {}, system, createProgram, undefined, report];
ts.createWatchProgram(ts.createWatchCompilerHost(...words));

/** What a package promises: each exported name and each of its members on a line, with its type. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const printer = ts.createPrinter({ removeComments: true });
const LISTED = new Set([
  ts.SyntaxKind.ClassDeclaration,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.EnumDeclaration,
]);

/** The lines of a package, sorted. `entry` is its declaration file; names that its signatures need are among them. */
export function apiOf(entry, folder) {
  const program = ts.createProgram([entry], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(entry);
  const waiting = checker
    .getExportsOfModule(checker.getSymbolAtLocation(file))
    .map((symbol) => ({ name: symbol.name, symbol }));
  const seen = new Set();
  const lines = new Set();
  while (waiting.length > 0) {
    const { name, symbol } = waiting.pop();
    const real = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (seen.has(real)) continue;
    seen.add(real);
    for (const declaration of real.declarations ?? []) {
      const path = relative(folder, declaration.getSourceFile().fileName);
      if (path.startsWith('..') || path.startsWith('inside/')) continue;
      for (const line of linesOf(name, declaration)) lines.add(line);
      for (const used of symbolsIn(declaration, checker))
        waiting.push({ name: used.name, symbol: used });
    }
  }
  return [...lines].sort((one, other) => (one < other ? -1 : 1));
}

function linesOf(name, declaration) {
  const text = (node) =>
    printer
      .printNode(ts.EmitHint.Unspecified, node, declaration.getSourceFile())
      .replace(/\s+/g, ' ')
      .trim();
  if (!LISTED.has(declaration.kind)) return [`${name}: ${text(declaration)}`];
  const bases = (declaration.heritageClauses ?? []).map(text);
  const kind = ts.SyntaxKind[declaration.kind].replace('Declaration', '').toLowerCase();
  const members = declaration.members.filter(
    (member) =>
      !(ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) &&
      !(member.name && ts.isPrivateIdentifier(member.name)),
  );
  return [
    `${name}: ${[kind, ...bases].join(' ')}`,
    ...members.map((member) => `${name}.${text(member).replace(/;$/, '')}`),
  ];
}

/** The symbols that a declaration's types name and that live in a module. */
function symbolsIn(declaration, checker) {
  const found = [];
  const visit = (node) => {
    if (ts.isIdentifier(node) && (ts.isTypeReferenceNode(node.parent) || isBase(node))) {
      const symbol = checker.getSymbolAtLocation(node);
      if (symbol && !(symbol.flags & ts.SymbolFlags.TypeParameter)) found.push(symbol);
    }
    ts.forEachChild(node, visit);
  };
  visit(declaration);
  return found;
}

function isBase(node) {
  return ts.isExpressionWithTypeArguments(node.parent);
}

/** What has gone from the promised lines or is otherwise now, and what is new. */
export function compared(promised, present) {
  const now = new Set(present);
  const before = new Set(promised);
  const added = present.filter((line) => !before.has(line));
  const gone = promised.filter(
    (line) => !now.has(line) && !added.some((wider) => isWidened(line, wider)),
  );
  return { gone, added };
}

/** Whether a line says the same with more choices: a union that has grown, or a member that may be left out, is no break. */
function isWidened(line, wider) {
  const same = wider.replace(/\w+\?: [^;{}]+; /g, (member) =>
    line.includes(member) ? member : '',
  );
  if (same === line) return true;
  const [one, other] = [line, wider].map((text) => text.split(' | '));
  return one.length > 1 && one[0] === other[0] && one.every((choice) => other.includes(choice));
}

/** A committed report: the version that its promises were made for, and the lines. */
export function readReport(path) {
  const [head = '', ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
  return { version: head.replace(/^# \S+ /, ''), lines };
}

/** Whether a version may break what another has promised: below 1.0 the second number is the first. */
export function mayBreak(promised, present) {
  const line = (version) => {
    const [major, minor] = version.split('.');
    return major === '0' ? `0.${minor}` : major;
  };
  return line(promised) !== line(present);
}

/** Where the report of a package is kept. */
export function reportOf(root, name) {
  return join(root, 'packages', name, 'api.txt');
}

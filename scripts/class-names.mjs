/**
 * esbuild keeps the names of functions and classes by a call for each, also for every arrow function that a request makes: 4 % of the
 * time of a short one. Only the names of classes mean something (they name migrations, schemas and what is injected).
 */
import ts from 'typescript';

/** A bundle without the calls that name functions. Throws when none is found: esbuild would have changed its way. */
export function withoutFunctionNames(text) {
  if (!text.includes('__name(')) return text;
  const source = ts.createSourceFile(
    'bundle.js',
    text,
    ts.ScriptTarget.ESNext,
    false,
    ts.ScriptKind.JS,
  );
  const cuts = [];
  const visit = (node) => {
    const named = namedBy(node);
    if (named && named.kind !== ts.SyntaxKind.ThisKeyword && !ts.isClassExpression(named)) {
      // The parentheses stay: a function without a name is named by what it is assigned to.
      cuts.push([node.getStart(source), named.getStart(source), '(']);
      cuts.push([named.end, node.end, ')']);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  if (cuts.length === 0) throw new Error('no function is named in the way that is known');
  return cut(text, cuts);
}

/** What `__name(what, "name")` names; undefined for anything else. */
function namedBy(node) {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return undefined;
  const [what, name, more] = node.arguments;
  const isNaming = node.expression.text === '__name' && !more && name && ts.isStringLiteral(name);
  return isNaming ? what : undefined;
}

function cut(text, cuts) {
  const parts = [];
  let end = 0;
  for (const [from, to, instead] of cuts.sort(([a], [b]) => a - b)) {
    parts.push(text.slice(end, from), instead);
    end = to;
  }
  return parts.join('') + text.slice(end);
}

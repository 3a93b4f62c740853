import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The root of the sources. */
export const SRC = resolve('src');

/** One import or export statement: the file it stands in and what it names. */
export interface Import {
  file: string;
  target: string;
}

/** The TypeScript files below the directory, without specs. */
export function sources(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) return sources(path);
    return name.endsWith('.ts') && !name.endsWith('.spec.ts') ? [path] : [];
  });
}

export function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s+['"]([^'"]+)['"]|(?:^|\n)\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
  );
  return [...found].map((match) => ({ file, target: match[1] ?? match[2] ?? match[3] ?? '' }));
}

/** The file of the project that is imported, as written there (.js); undefined for packages. */
export function resolved(one: Import): string | undefined {
  if (one.target.startsWith('#src/')) return join(SRC, one.target.slice('#src/'.length));
  if (one.target.startsWith('.')) return resolve(dirname(one.file), one.target);
  return undefined;
}

/** `file → what it imports`, for people. */
export function show(one: Import): string {
  return `${relative(SRC, one.file)} → ${one.target}`;
}

/** The imports of the project's own files as a graph: file → files. */
export function fileGraph(): Map<string, Set<string>> {
  const files = sources(SRC);
  const graph = new Map(files.map((file) => [file, new Set<string>()]));
  for (const one of files.flatMap(importsOf)) {
    const path = resolved(one)?.replace(/\.js$/, '.ts');
    if (path !== undefined && path !== one.file && graph.has(path)) graph.get(one.file)?.add(path);
  }
  return graph;
}

/**
 * The same by folders: a folder is the files that stand in it itself, not in folders below it. The top is none: its entry
 * point opens `app`, which makes the composition root beside it.
 */
export function folderGraph(): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const [file, targets] of fileGraph()) {
    const own = dirname(file);
    if (own === SRC) continue;
    const others = graph.get(own) ?? new Set<string>();
    for (const target of targets) if (dirname(target) !== own) others.add(dirname(target));
    graph.set(own, others);
  }
  return graph;
}

/** The circles of a graph (Tarjan's strongly connected components of two nodes and more), as sorted paths below src. */
export function circlesOf(graph: Map<string, Set<string>>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    const number = order.size;
    order.set(node, number);
    open.push(node);
    let low = number;
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    lowest.set(node, low);
    if (low === number) {
      const circle = open.splice(open.indexOf(node));
      if (circle.length > 1) circles.push(circle.map((path) => relative(SRC, path) || '.').sort());
    }
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}

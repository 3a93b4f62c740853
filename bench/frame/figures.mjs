import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../scripts/run.mjs';

/** All figure files: `{group, figures, options}` in the order of their names. */
export async function figureFiles() {
  const folder = join(root, 'bench');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.mjs')).sort();
  return Promise.all(
    names.map(async (name) => {
      const { figures, options = {} } = await import(pathToFileURL(join(folder, name)).href);
      return { group: name.slice(0, -'.mjs'.length), figures, options };
    }),
  );
}

/** The figures that the words choose (a group or a figure's name; none: all). Throws for an unknown word. */
export function chooseFigures(files, words) {
  const all = files.flatMap(({ figures }) => figures);
  if (words.length === 0) return all;
  const matches = (figure, word) => figure.name === word || figure.name.startsWith(`${word}.`);
  const unknown = words.find((word) => !all.some((figure) => matches(figure, word)));
  if (unknown !== undefined) throw new Error(`no figure is called ${unknown}; see --list`);
  return all.filter((figure) => words.some((word) => matches(figure, word)));
}

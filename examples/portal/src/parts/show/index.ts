import { parseJson, stringifyJson } from 'gridgate/client';
import { h, type Child } from '../dom.js';
import { plainText } from '../plain-text.js';
import { pageFrame, pdfFrame } from './frame.js';
import { markdown } from './markdown.js';
import { notebook } from './notebook.js';
import { showTable } from './table.js';

/** Makes something to look at of a file. Throws Error when the file is not what its name says. */
type Show = (content: Blob, name: string) => Promise<Child>;

const SHOWN: Record<string, Show> = {
  csv: async (content, name) => showTable(await content.text(), name),
  tsv: async (content, name) => showTable(await content.text(), name),
  json: async (content, name) => pre(stringifyJson(parseJson(await content.text()), 2), name),
  md: async (content) => markdown(await content.text()),
  ipynb: async (content) => notebook(await content.text()),
  html: async (content, name) => pageFrame(await content.text(), name),
  htm: async (content, name) => pageFrame(await content.text(), name),
  pdf: pdfFrame,
};

/** What a file of a job holds, as its name says; what cannot be read so is shown as text, and why. */
export async function shown(content: Blob, name: string): Promise<Child> {
  const ending = endingOf(name);
  const show = Object.hasOwn(SHOWN, ending) ? SHOWN[ending] : undefined;
  try {
    if (show) return await show(content, name);
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    const note = h('p', { class: 'soft' }, `Not readable as ${ending}: ${why}`);
    return [note, pre(await content.text(), name)];
  }
  return pre(await content.text(), name);
}

export function endingOf(name: string): string {
  return /\.([a-z\d]{1,8})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}

function pre(text: string, name: string): HTMLElement {
  const words = text === '' ? '(empty)' : plainText(text);
  return h('pre', { tabIndex: 0, role: 'region', 'aria-label': `Content of ${name}` }, words);
}

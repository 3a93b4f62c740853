import { parseJson } from 'gridgate/client';
import { h, type Child } from '../dom.js';
import { plainText } from '../plain-text.js';
import { pageFrame } from './frame.js';
import { markdown } from './markdown.js';

const MOST_CELLS = 300;
const PICTURES = ['image/png', 'image/jpeg', 'image/gif'];
/** What base64 has; everything else would be another address. */
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/** A notebook: its cells and what they gave. Nothing in it is run; pages in it stand in frames that may do nothing. */
export function notebook(text: string): Child {
  const { cells } = parseJson(text) as { cells?: unknown };
  if (!Array.isArray(cells)) throw new Error('This is no notebook: it has no cells.');
  const hidden = cells.length - MOST_CELLS;
  return h(
    'div',
    { class: 'notebook' },
    cells.slice(0, MOST_CELLS).map((cell) => cellOf(objectOf(cell))),
    hidden > 0 && h('p', { class: 'soft' }, `and ${hidden} more cells`),
  );
}

type Part = Record<string, unknown>;

function cellOf(cell: Part): Child {
  const source = textOf(cell['source']);
  if (cell['cell_type'] === 'markdown') return markdown(source);
  const outputs = Array.isArray(cell['outputs']) ? cell['outputs'] : [];
  return [
    h('pre', { tabIndex: 0 }, plainText(source)),
    outputs.map((one) => output(objectOf(one))),
  ];
}

function output(part: Part): Child {
  const data = objectOf(part['data']);
  for (const type of PICTURES) {
    const content = textOf(data[type]);
    if (content !== '' && BASE64.test(content)) {
      return h('img', { src: `data:${type};base64,${content}`, alt: 'Picture of the notebook' });
    }
  }
  const markup = textOf(data['text/html']);
  if (markup !== '') return pageFrame(markup, 'a cell');
  const text = textOf(part['text']) || textOf(data['text/plain']) || textOf(part['traceback']);
  return text === '' ? undefined : h('pre', { class: 'given', tabIndex: 0 }, plainText(text));
}

function objectOf(value: unknown): Part {
  return typeof value === 'object' && value !== null ? (value as Part) : {};
}

/** A text, or its lines. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string').join('') : '';
}

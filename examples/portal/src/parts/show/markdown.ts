import { h, type Child } from '../dom.js';

/** `**bold**`, `*soft*`, `` `code` ``, `[text](address)`: each without another inside. */
const INLINE =
  /\*\*([^*]{1,500})\*\*|\*([^*]{1,500})\*|`([^`]{1,500})`|\[([^[\]]{1,300})\]\(([^()\s]{1,500})\)/g;
const HEADING = /^(#{1,6}) +(\S.*)$/;
const ITEM = /^ {0,6}(?:[-*+]|\d{1,4}\.) +(\S.*)$/;

/**
 * The common part of Markdown, made of elements and texts: markup in it is shown as it is written. Links are shown with where they
 * lead, and pictures are not loaded: a job must not learn who looks.
 */
export function markdown(text: string): Child {
  const blocks: Child[] = [];
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.startsWith('```')) {
      const end = lines.findIndex((other, index) => index > at && other.startsWith('```'));
      const stop = end < 0 ? lines.length : end;
      blocks.push(h('pre', { tabIndex: 0 }, lines.slice(at + 1, stop).join('\n')));
      at = stop + 1;
      continue;
    }
    const block = takeWhile(lines, at, kindOf(line));
    blocks.push(blockOf(kindOf(line), block));
    at += block.length;
  }
  return h('div', { class: 'prose' }, blocks);
}

type Kind = 'heading' | 'list' | 'quote' | 'blank' | 'text';

function kindOf(line: string): Kind {
  if (line.trim() === '') return 'blank';
  if (HEADING.test(line)) return 'heading';
  if (ITEM.test(line)) return 'list';
  return line.startsWith('>') ? 'quote' : 'text';
}

function takeWhile(lines: readonly string[], start: number, kind: Kind): string[] {
  if (kind === 'heading') return lines.slice(start, start + 1);
  let end = start + 1;
  while (
    end < lines.length &&
    kindOf(lines[end] ?? '') === kind &&
    !lines[end]?.startsWith('```')
  ) {
    end += 1;
  }
  return lines.slice(start, end);
}

function blockOf(kind: Kind, lines: readonly string[]): Child {
  if (kind === 'blank') return undefined;
  if (kind === 'heading') {
    const [, marks = '#', words = ''] = HEADING.exec(lines[0] ?? '') ?? [];
    // The page has headings of its own above.
    return h(marks.length > 2 ? 'h5' : 'h4', {}, inline(words));
  }
  if (kind === 'list') {
    const items = lines.map((line) => h('li', {}, inline(ITEM.exec(line)?.[1] ?? '')));
    return h('ul', {}, items);
  }
  if (kind === 'quote') {
    return h('blockquote', {}, inline(lines.map((line) => line.replace(/^> ?/, '')).join('\n')));
  }
  return h('p', {}, inline(lines.join('\n')));
}

function inline(text: string): Child[] {
  const parts: Child[] = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, bold, soft, code, words, address] = found;
    parts.push(text.slice(at, found.index));
    if (bold !== undefined) parts.push(h('b', {}, bold));
    else if (soft !== undefined) parts.push(h('em', {}, soft));
    else if (code !== undefined) parts.push(h('code', {}, code));
    else parts.push(words, h('small', { class: 'address' }, ` (${address})`));
    at = found.index + whole.length;
  }
  return [...parts, text.slice(at)];
}

import { h } from './dom.js';

let left: readonly string[] = [];

/** What the next page is to say at its top: something that was found on the way there. */
export function leaveNotice(texts: readonly string[]): void {
  left = texts;
}

/** What was left, once. */
export function takeNotice(): HTMLElement[] {
  const texts = left;
  left = [];
  if (texts.length === 0) return [];
  const box = h(
    'div',
    { class: 'note warning', role: 'status' },
    texts.map((text) => h('p', {}, text)),
  );
  return [box];
}

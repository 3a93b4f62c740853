import type { GridClient } from 'gridgate/client';
import { h } from '../../parts/dom.js';

/** What a section of the page of administration gets. */
export interface SectionInput {
  client: GridClient;
  /** Parts of the address after the section's name. */
  path: string[];
  query: URLSearchParams;
  signal: AbortSignal;
  /** Where it is said what was done, and what went wrong. */
  note: HTMLElement;
  /** Shows the section anew. */
  refresh: () => Promise<void>;
}

/** What a section shows; rejects when it cannot. */
export type Section = (input: SectionInput) => Promise<HTMLElement[]>;

/** What was done. */
export function doneBox(text: string): HTMLElement {
  return h('div', { class: 'note', role: 'status' }, h('p', {}, text));
}

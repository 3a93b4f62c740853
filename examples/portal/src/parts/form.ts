import { GridError } from 'gridgate/client';
import { once } from './action.js';
import { h, update } from './dom.js';
import type { Field, TextField } from './field.js';
import { faultBox } from './pieces.js';

/** Said at its field already. */
export class Marked extends Error {}

/** To be thrown by the work of a form: the field says what is wrong with it, and has the focus. */
export function mark(field: Field, problem: string): Marked {
  field.mark(problem);
  field.input.focus();
  return new Marked(`${field.label} ${problem}`);
}

/** The text of a field without white space around it. Throws what `mark` makes when there is none. */
export function required(field: TextField): string {
  const text = field.input.value.trim();
  if (text === '') throw mark(field, 'is missing');
  return text;
}

/** Fields and a button, or a button alone for what cannot be undone; what is written stays when the work is refused, and why stands below. */
export function form(
  title: string,
  fields: readonly TextField[],
  work: () => Promise<void>,
): HTMLElement {
  const note = h('div');
  const button = h('button', { class: fields.length > 0 ? 'plain' : 'danger' }, title);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const unmarked = (): Promise<void> => {
      for (const field of fields) field.mark();
      return work();
    };
    once(button, note, unmarked, (error) => {
      if (!(error instanceof Marked)) update(note, faultBox(worded(error)));
    });
  };
  return h(
    'form',
    { class: 'form', noValidate: true, onSubmit },
    fields.length > 0 && h('h3', {}, title),
    fields.map(({ element }) => element),
    button,
    note,
  );
}

function worded(error: unknown): unknown {
  if (error instanceof GridError && error.code === 'catalogue.forbidden') {
    return new Error('You may not write here: ask whoever owns the directory.');
  }
  if (error instanceof GridError && error.code === 'catalogue.exists') {
    return new Error(`${error.message} already: choose another name.`);
  }
  return error;
}

import { h } from './dom.js';

/** A labelled place for text that can say what is wrong with it. */
export interface Field {
  readonly label: string;
  readonly input: HTMLInputElement | HTMLTextAreaElement;
  readonly element: HTMLElement;
  /** Says below the field what is wrong, and tells assistive technology; nothing: it is well. */
  mark(problem?: string): void;
}

/** One for a line. */
export interface TextField extends Field {
  readonly input: HTMLInputElement;
}

export function textField(
  id: string,
  label: string,
  placeholder: string,
  { hint, required = false }: { hint?: string; required?: boolean } = {},
): TextField {
  const input = h('input', {
    ...{ type: 'text', id, placeholder, required },
    ...{ autocomplete: 'off', spellcheck: false },
  });
  return { label, input, ...labelled(input, label, hint) };
}

/** One for several lines. */
export function linesField(id: string, label: string, placeholder: string, hint: string): Field {
  const input = h('textarea', { id, placeholder, rows: 3, autocomplete: 'off', spellcheck: false });
  return { label, input, ...labelled(input, label, hint) };
}

function labelled(input: HTMLElement, label: string, hint: string | undefined) {
  const { id } = input;
  const { place, mark } = marker(id, input, hint !== undefined);
  const element = h(
    'div',
    { class: 'field' },
    h('label', { htmlFor: id }, label),
    input,
    hint !== undefined && h('small', { id: `${id}-hint` }, hint),
    place,
  );
  return { element, mark };
}

/** Where the fault of an input stands, and how it is said. */
export function marker(id: string, input: HTMLElement, hasHint = false) {
  const place = h('small', { id: `${id}-fault`, class: 'wrong', hidden: true });
  const hints = hasHint ? [`${id}-hint`] : [];
  const mark = (problem?: string): void => {
    place.textContent = problem ?? '';
    place.hidden = problem === undefined;
    const described = problem === undefined ? hints : [...hints, `${id}-fault`];
    if (described.length > 0) input.setAttribute('aria-describedby', described.join(' '));
    else input.removeAttribute('aria-describedby');
    if (problem === undefined) input.removeAttribute('aria-invalid');
    else input.setAttribute('aria-invalid', 'true');
  };
  mark();
  return { place, mark };
}

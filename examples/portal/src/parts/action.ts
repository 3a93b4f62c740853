import { h, update, type Child } from './dom.js';
import { faultBox } from './pieces.js';

/** Does what a button is for, once at a time: what is pressed meanwhile is not heard. What goes wrong is said in `note`. */
export function once(
  button: HTMLButtonElement,
  note: HTMLElement,
  work: () => Promise<unknown>,
  onFault = (error: unknown): void => update(note, faultBox(error)),
): void {
  if (button.disabled) return;
  button.disabled = true;
  update(note);
  work()
    .catch(onFault)
    .finally(() => (button.disabled = false));
}

/** A button that does something once at a time; what goes wrong is said in `note`. */
export function actionButton(
  text: string,
  {
    label,
    look = 'plain small',
    note,
  }: { label?: string | undefined; look?: string; note: HTMLElement },
  work: () => Promise<unknown>,
): HTMLButtonElement {
  const onClick = (): void => once(button, note, work);
  const button: HTMLButtonElement = h(
    'button',
    { type: 'button', class: look, 'aria-label': label, onClick },
    text,
  );
  return button;
}

/** A table that may be wider than the window: it is scrolled for itself, with the keyboard, too. On phones cells stand below each other. */
export function wideTable(label: string, heads: string[], rows: Child[][]): HTMLElement {
  return h(
    'div',
    { class: 'wide', tabIndex: 0, role: 'region', 'aria-label': label },
    h(
      'table',
      { class: 'jobs' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((head) => h('th', { scope: 'col' }, head)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((cells) =>
          h(
            'tr',
            {},
            cells.map((cell, place) => h('td', { 'data-label': heads[place] }, h('div', {}, cell))),
          ),
        ),
      ),
    ),
  );
}

/** Asks for a line of text before something is done; undefined when it was called off. */
export function askedFor(
  question: string,
  { label, action, most }: { label: string; action: string; most: number },
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const input = h('input', {
      ...{ type: 'text', id: 'asked-for', required: true, maxLength: most, autocomplete: 'off' },
    });
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'question' },
      h('p', { id: 'question' }, question),
      h(
        'form',
        { method: 'dialog' },
        h('div', { class: 'field' }, h('label', { htmlFor: 'asked-for' }, label), input),
        h(
          'div',
          { class: 'actions' },
          h('button', { value: 'yes', class: 'danger' }, action),
          h('button', { value: 'no', class: 'plain', formNoValidate: true }, 'Cancel'),
        ),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes' ? input.value.trim() : undefined);
    });
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}

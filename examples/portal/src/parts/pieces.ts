import { GridError } from 'gridgate/client';
import { h, update } from './dom.js';
import { ago, moment } from './format.js';
import { toneOf } from './states.js';

/** A state in its colour; the word says it all, the colour only helps. */
export function stateLabel(status: string): HTMLElement {
  return h('span', { class: `state ${toneOf(status)}` }, status);
}

/** A time in words, with the exact one for those who look. */
export function timeText(time: string): HTMLElement {
  return h('time', { dateTime: time, title: moment(time) }, ago(time));
}

/** What went wrong, for people; bad input with its fields. */
export function faultBox(error: unknown): HTMLElement {
  const violations = error instanceof GridError ? error.violations : [];
  const text = error instanceof Error ? error.message : 'Something went wrong';
  // The text of a fault with fields is made of these.
  const isSaid = violations.length > 0 && violations.every(({ problem }) => text.includes(problem));
  return h(
    'div',
    { class: 'fault', role: 'alert', tabIndex: -1 },
    !isSaid && h('p', {}, text),
    violations.length > 0 &&
      h(
        'ul',
        {},
        violations.map(({ field, problem, instead }) =>
          h(
            'li',
            {},
            h('b', {}, field),
            ` ${problem}`,
            instead !== undefined && `; instead: ${instead}`,
          ),
        ),
      ),
  );
}

/** Asks before something that cannot be undone. Resolves true when it was confirmed. */
export function confirmed(question: string, action: string): Promise<boolean> {
  return new Promise((resolve) => {
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'question' },
      h('p', { id: 'question' }, question),
      h(
        'form',
        { method: 'dialog', class: 'actions' },
        h('button', { value: 'yes', class: 'danger' }, action),
        h('button', { value: 'no', class: 'plain', autofocus: true }, 'Cancel'),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A small button; what goes wrong with its work is said at the place. */
export function smallButton(
  text: string,
  label: string,
  place: HTMLElement,
  work: () => Promise<void>,
): HTMLElement {
  const onClick = (): void => {
    work().catch((error: unknown) => update(place, faultBox(error)));
  };
  return h('button', { type: 'button', class: 'plain small', 'aria-label': label, onClick }, text);
}

/** Hands bytes to the browser as a download. */
export function saveAs(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = h('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

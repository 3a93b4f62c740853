import { h, update } from './dom.js';

/** Something to go to or to do. */
export interface Command {
  title: string;
  run: () => void;
}

const SHOWN = 8;

/** Opens with Ctrl+K (or ⌘K): whoever writes a part of a name, or the number of a job, goes there with Enter. */
export function openPalette(commands: readonly Command[], jobHash: (jid: string) => string): void {
  if (document.querySelector('dialog[open]')) return;
  let chosen = 0;
  let offered: Command[] = [];
  const list = h('ul', { id: 'offered', role: 'listbox', 'aria-label': 'Commands' });
  const input = h('input', {
    ...{ type: 'text', role: 'combobox', autocomplete: 'off', spellcheck: false },
    ...{ 'aria-label': 'Go to', 'aria-controls': 'offered', 'aria-expanded': 'true' },
    ...{ placeholder: 'A page, or the number of a job', onInput: () => offer() },
  });
  const dialog = h('dialog', { class: 'palette', 'aria-label': 'Commands' }, input, list);
  const run = (command: Command | undefined): void => {
    dialog.close();
    command?.run();
  };
  const show = (): void => {
    input.setAttribute('aria-activedescendant', offered.length > 0 ? `offered-${chosen}` : '');
    update(
      list,
      offered.length === 0 &&
        h('li', { class: 'soft', role: 'presentation' }, 'Nothing has that name'),
      offered.map(({ title }, index) =>
        h(
          'li',
          { id: `offered-${index}`, role: 'option', 'aria-selected': String(index === chosen) },
          title,
        ),
      ),
    );
  };
  const offer = (): void => {
    chosen = 0;
    offered = matching(commands, input.value, jobHash);
    show();
  };
  dialog.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && offered.length > 0) {
      chosen = (chosen + step + offered.length) % offered.length;
      show();
    } else if (event.key === 'Enter') run(offered[chosen]);
    else return;
    event.preventDefault();
  });
  list.addEventListener('click', ({ target }) => {
    const row = (target as HTMLElement).closest('li');
    if (row && offered.length > 0) run(offered[[...list.children].indexOf(row)]);
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  offer();
}

function matching(
  commands: readonly Command[],
  text: string,
  jobHash: (jid: string) => string,
): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = commands.filter(({ title }) =>
    words.every((word) => title.toLowerCase().includes(word)),
  );
  const [, jid] = /^\s*(?:job\s*)?(\d{1,15})\s*$/i.exec(text) ?? [];
  const job = jid === undefined ? [] : [{ title: `Job ${jid}`, run: () => go(jobHash(jid)) }];
  return [...job, ...found].slice(0, SHOWN);
}

function go(hash: string): void {
  location.hash = hash;
}

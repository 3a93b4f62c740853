import type { GridClient } from 'gridgate/client';
import { h } from '../../parts/dom.js';
import { textField } from '../../parts/field.js';
import { listOf } from '../../parts/words.js';

/** In these a job has a site; before, it says where it may run. */
const PLACED = ['Running', 'Completing', 'Completed', 'Done'] as const;
const MOST = 20;

/** The sites on which a job may run: written, or chosen from those on which jobs that one may see have run. */
export class SiteField {
  readonly field = textField('sites', 'Sites', 'any', {
    hint: 'Separated by blanks; empty: any site',
  });
  private readonly choice = h('div', {
    ...{ class: 'examples', role: 'group', 'aria-label': 'Where jobs have run', hidden: true },
  });
  private buttons: HTMLButtonElement[] = [];

  constructor(private readonly onChoose: () => void) {
    const { element, input } = this.field;
    element.append(this.choice);
    input.addEventListener('input', () => this.refresh());
  }

  /** Asks which there are. Without an answer they are written. */
  async offer(client: GridClient, signal: AbortSignal): Promise<void> {
    const query = { group: 'site', allOwners: true } as const;
    const summary = await client.summarizeJobs({ ...query, status: [...PLACED] }, { signal });
    const names = Object.entries(summary)
      .sort(([, left], [, right]) => right - left)
      .map(([name]) => name)
      .filter((name) => listOf(name).join() === name);
    if (names.length === 0) return;
    this.buttons = names.slice(0, MOST).map((name) => this.button(name));
    this.choice.replaceChildren('Where jobs have run:', ...this.buttons);
    this.choice.hidden = false;
    this.refresh();
  }

  /** Says which are chosen. */
  refresh(): void {
    const chosen = new Set(listOf(this.field.input.value));
    for (const button of this.buttons) {
      button.setAttribute('aria-pressed', String(chosen.has(button.textContent ?? '')));
    }
  }

  private button(name: string): HTMLButtonElement {
    const onClick = (): void => {
      const { input } = this.field;
      const chosen = listOf(input.value);
      const others = chosen.filter((one) => one !== name);
      input.value = (others.length < chosen.length ? others : [...chosen, name]).join(' ');
      this.refresh();
      this.onChoose();
    };
    return h('button', { type: 'button', class: 'plain small', onClick }, name);
  }
}

import type { GridClient } from 'gridgate/client';
import { h, update } from '../../parts/dom.js';
import { faultBox } from '../../parts/pieces.js';
import { plainText } from '../../parts/plain-text.js';

/** The older part of a long output is among the files when the job has ended. */
const MOST_SHOWN = 200_000;
const LEAST_MS = 10_000;
/** So near the end, pixels, one wants to see what comes. */
const NEAR = 40;
const OUTPUTS: [string, string][] = [
  ['std.out', 'Output so far'],
  ['std.err', 'Errors so far'],
];

/**
 * What a running job writes, as it writes it. One of its two outputs at a time, and none while nobody looks: a browser has six
 * connections to a service.
 */
export class LiveOutput {
  readonly element = h('section', { class: 'card' });
  private readonly title = h('h2');
  private readonly note = h('div');
  private readonly text = new Text('');
  private readonly shown = h('pre', { tabIndex: 0, role: 'region' }, this.text);
  private readonly buttons: HTMLButtonElement[];
  private name = 'std.out';
  private following: AbortController | undefined;

  constructor(
    private readonly client: GridClient,
    private readonly jid: number,
    private readonly page: AbortSignal,
  ) {
    this.buttons = OUTPUTS.map(([name]) =>
      h('button', { type: 'button', class: 'plain small', onClick: () => this.choose(name) }, name),
    );
    this.element.append(
      h('div', { class: 'head' }, this.title, h('div', { class: 'actions' }, this.buttons)),
      this.shown,
      this.note,
    );
    const onLook = (): void => {
      if (document.visibilityState === 'visible') this.follow();
      else this.following?.abort();
    };
    document.addEventListener('visibilitychange', onLook, { signal: page });
    this.choose(this.name);
  }

  /** The job does not write any more. */
  end(): void {
    this.following?.abort();
  }

  private choose(name: string): void {
    this.name = name;
    const label = OUTPUTS.find(([one]) => one === name)?.[1] ?? name;
    this.title.textContent = label;
    this.shown.setAttribute('aria-label', label);
    for (const [index, [one]] of OUTPUTS.entries()) {
      this.buttons[index]?.setAttribute('aria-pressed', String(one === name));
    }
    this.follow();
  }

  private follow(): void {
    this.following?.abort();
    const own = new AbortController();
    this.following = own;
    const signal = AbortSignal.any([own.signal, this.page]);
    this.text.data = 'nothing yet';
    update(this.note);
    this.read(signal).catch((error: unknown) => {
      if (!signal.aborted) update(this.note, faultBox(error), this.again());
    });
  }

  private async read(signal: AbortSignal): Promise<void> {
    const since = Date.now();
    let text = '';
    for await (const event of this.client.followOutput(this.jid, this.name, { signal })) {
      if (signal.aborted) return;
      if (event.event === 'restart') text = '';
      if (event.event === 'output') text = (text + event.text).slice(-MOST_SHOWN);
      this.show(text);
      if (event.event !== 'end' || event.reason === 'job ended') continue;
      // The token has come to its end: the next call has a new one. Not at once again, should that be refused as well.
      if (Date.now() - since < LEAST_MS) throw new Error('You may not read this output any more.');
      this.follow();
      return;
    }
  }

  private show(text: string): void {
    const { scrollTop, scrollHeight, clientHeight } = this.shown;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    this.text.data = text === '' ? 'nothing yet' : plainText(text);
    if (isAtEnd) this.shown.scrollTop = this.shown.scrollHeight;
  }

  private again(): HTMLElement {
    const onClick = (): void => this.follow();
    return h('button', { type: 'button', class: 'plain small', onClick }, 'Try again');
  }
}

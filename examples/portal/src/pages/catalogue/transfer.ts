import { byId, h, say, update } from '../../parts/dom.js';
import { faultBox } from '../../parts/pieces.js';

/** Uploads that have not ended: they end with the tab. */
const underWay = new Set<Transfer>();

window.addEventListener('beforeunload', (event) => {
  if (underWay.size > 0) event.preventDefault(); // the browser asks
});

/** An upload on its way. It goes on when its page is left, and is shown below all others then, with what came of it. */
export class Transfer {
  readonly element = h('div', { class: 'transfer' });
  private readonly bar = h('progress', { 'aria-label': 'Sent' });
  private readonly stopping = new AbortController();
  private isLeft = false;

  /** `page` ends when the page with the form is left. */
  constructor(
    private readonly path: string,
    page: AbortSignal,
  ) {
    const stop = (): void =>
      this.stopping.abort(new Error('The upload was stopped: nothing is registered.'));
    this.element.append(this.path, this.bar, smallOne('Stop', `Stop the upload of ${path}`, stop));
    underWay.add(this);
    page.addEventListener('abort', () => this.leave());
  }

  /** Ends, with the error to tell, when somebody stops it. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  /** So many bytes have gone. */
  show(sent: number, size: number): void {
    Object.assign(this.bar, { max: size, value: sent });
  }

  /** It has ended, with a fault or well; on the page with its form that is said there. */
  end(fault?: unknown): void {
    underWay.delete(this);
    if (!this.isLeft) {
      this.element.remove();
      return;
    }
    const text = `${this.path} is ${fault === undefined ? '' : 'not '}uploaded.`;
    say(text);
    update(this.element, h('p', {}, text), fault !== undefined && faultBox(fault));
    const close = (): void => this.element.remove();
    this.element.append(smallOne('Close', `Close what is said of ${this.path}`, close));
  }

  private leave(): void {
    if (!underWay.has(this)) return;
    this.isLeft = true;
    byId('uploads').append(this.element);
  }
}

function smallOne(text: string, label: string, onClick: () => void): HTMLElement {
  return h('button', { type: 'button', class: 'plain small', 'aria-label': label, onClick }, text);
}

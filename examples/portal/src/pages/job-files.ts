import type { GridClient } from 'gridgate/client';
import { h, update } from '../parts/dom.js';
import { bytes } from '../parts/format.js';
import { faultBox, saveAs } from '../parts/pieces.js';

/** Larger files are only offered as a download. */
const VIEW_LIMIT = 200_000;

type Kind = 'input' | 'output';

/** The files of a sandbox: each to look at or to save, and all of them in one archive. */
export async function sandboxSection(
  client: GridClient,
  jid: number,
  kind: Kind,
  signal: AbortSignal,
): Promise<HTMLElement> {
  const isOutput = kind === 'output';
  const list = isOutput
    ? client.listOutputSandbox.bind(client)
    : client.listInputSandbox.bind(client);
  const { files } = await list(jid, { signal });
  const shown = h('div');
  const saveAll = async (): Promise<void> => {
    const archive = isOutput
      ? await client.getOutputSandbox(jid)
      : await client.getInputSandbox(jid);
    saveAs(archive, `${jid}-${kind}sandbox.tar.gz`);
  };
  const title = isOutput ? 'Output files' : 'Input files';
  const rows = files.map(({ name, size }) => {
    const read = (): Promise<Blob> =>
      isOutput ? client.readOutputSandboxFile(jid, name) : client.readInputSandboxFile(jid, name);
    return h(
      'li',
      {},
      h('span', { class: 'file' }, name),
      h('span', { class: 'soft' }, bytes(size)),
      size <= VIEW_LIMIT &&
        button(`View`, `View ${name}`, shown, async () => view(shown, name, await read())),
      button('Save', `Save ${name}`, shown, async () =>
        saveAs(await read(), name.split('/').at(-1) ?? name),
      ),
    );
  });
  return h(
    'section',
    { class: 'card' },
    h(
      'div',
      { class: 'head' },
      h('h2', {}, title),
      button(
        'Download all (tar.gz)',
        `Download all ${title.toLowerCase()} as tar.gz`,
        shown,
        saveAll,
      ),
    ),
    h('ul', { class: 'files' }, rows),
    shown,
  );
}

function button(
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

async function view(place: HTMLElement, name: string, content: Blob): Promise<void> {
  const text = await content.text();
  const pre = h(
    'pre',
    { tabIndex: 0, role: 'region', 'aria-label': `Content of ${name}` },
    text === '' ? '(empty)' : text,
  );
  place.replaceChildren(h('h3', {}, name), pre);
  pre.focus();
}

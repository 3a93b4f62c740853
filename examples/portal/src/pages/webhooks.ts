import { stringifyJson, type GridClient, type WebhookResponse } from 'gridgate/client';
import { actionButton, once } from '../parts/action.js';
import { h, update } from '../parts/dom.js';
import { textField } from '../parts/field.js';
import { confirmed, timeText } from '../parts/pieces.js';
import type { Page, PageInput } from './page.js';

const DELIVERIES = 20;

/** Who is told of changes by the service: receivers, whether they answer, and what was sent to them. */
export const webhooksPage: Page = async (input) => {
  const { client, root, signal } = input;
  const fault = h('div');
  const list = h('div');
  const refresh = async (): Promise<void> => {
    const { webhooks } = await client.listWebhooks({ signal });
    list.replaceChildren(
      ...(webhooks.length === 0
        ? [h('p', { class: 'empty' }, 'Nobody is told of changes.')]
        : webhooks.map((one) => card(client, one, refresh))),
    );
  };
  await refresh();
  root.replaceChildren(
    h('div', { class: 'head' }, h('h1', {}, 'Webhooks')),
    fault,
    list,
    addForm(input, refresh),
  );
};

function card(
  client: GridClient,
  webhook: WebhookResponse,
  refresh: () => Promise<void>,
): HTMLElement {
  const { id, url, source, enabled, description, disabledReason } = webhook;
  const note = h('div');
  const act = actionsOf(url, note);
  const remove = async (): Promise<void> => {
    if (!(await confirmed(`Tell ${url} nothing any more?`, 'Remove'))) return;
    await client.removeWebhook(id);
    await refresh();
  };
  const test = async (): Promise<void> => {
    const { delivered, status, error } = await client.testWebhook(id);
    const words = delivered ? `It answered ${status}.` : `Not delivered: ${error ?? status}`;
    update(note, h('div', { class: delivered ? 'note' : 'fault', role: 'status' }, words));
  };
  const toggle = async (): Promise<void> => {
    await client.changeWebhook(id, { enabled: !enabled });
    await refresh();
  };
  return h(
    'section',
    { class: 'card' },
    h('h2', {}, url),
    description !== '' && h('p', {}, description),
    h(
      'p',
      { class: 'soft' },
      `${source === 'jobs' ? 'Jobs' : 'Catalogue'} ${stringifyJson(webhook.filter)}, as ${webhook.user} in ${webhook.group}. `,
      enabled ? 'On.' : `Off${disabledReason === undefined ? '' : `: ${disabledReason}`}.`,
    ),
    h(
      'div',
      { class: 'actions' },
      act('Test', 'plain small', test),
      act(enabled ? 'Switch off' : 'Switch on', 'plain small', toggle),
      act('Deliveries', 'plain small', async () => update(note, await deliveries(client, id))),
      act('Remove', 'danger small', remove),
    ),
    note,
  );
}

/** Buttons that do something with the webhook of an address; what goes wrong is said in the note. */
function actionsOf(url: string, note: HTMLElement) {
  return (text: string, look: string, work: () => Promise<unknown>): HTMLElement =>
    actionButton(text, { label: `${text} ${url}`, look, note }, work);
}

async function deliveries(client: GridClient, id: string): Promise<HTMLElement> {
  const { deliveries: list } = await client.listWebhookDeliveries(id, { limit: DELIVERIES });
  if (list.length === 0) return h('p', { class: 'soft' }, 'Nothing was sent yet.');
  const rows = list.map(({ state, createdAt }) =>
    h('li', {}, h('span', { class: 'file' }, state), timeText(createdAt)),
  );
  return h('ul', { class: 'files' }, rows);
}

/** The secret is told once, here. */
function addForm({ client }: PageInput, refresh: () => Promise<void>): HTMLElement {
  const url = textField('webhook-url', 'Address', 'https://hooks.example.org/grid', {
    required: true,
    hint: 'It is told of what you may see, and what it gets is signed',
  });
  const description = textField('webhook-description', 'Description', 'Chat of the group');
  const source = h(
    'select',
    { id: 'webhook-source' },
    h('option', { value: 'jobs' }, 'Jobs'),
    h('option', { value: 'filecatalogue' }, 'Catalogue'),
  );
  const note = h('div');
  const button = h('button', {}, 'Add');
  const add = async (): Promise<void> => {
    const body = {
      url: url.input.value.trim(),
      description: description.input.value.trim(),
      source: source.value as 'jobs' | 'filecatalogue',
    };
    const { secret } = await client.addWebhook(body);
    url.input.value = description.input.value = '';
    const words = 'Its secret, told only now: ';
    update(
      note,
      h('div', { class: 'note', role: 'status' }, h('p', {}, words, h('code', {}, secret))),
    );
    await refresh();
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    once(button, note, add);
  };
  return h(
    'form',
    { class: 'card form', noValidate: true, onSubmit },
    h('h2', {}, 'Tell another receiver'),
    url.element,
    description.element,
    h('div', { class: 'field' }, h('label', { htmlFor: source.id }, 'Changes of'), source),
    button,
    note,
  );
}

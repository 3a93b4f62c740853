import type { AddSiteRequest, SiteResponse } from 'gridgate/client';
import { actionButton, askedFor, once, wideTable } from '../../parts/action.js';
import { h, update, type Child } from '../../parts/dom.js';
import { textField, type TextField } from '../../parts/field.js';
import { required } from '../../parts/form.js';
import { confirmed, timeText } from '../../parts/pieces.js';
import { listOf } from '../../parts/words.js';
import { doneBox, type Section, type SectionInput } from './section.js';

const LONGEST_REASON = 500;

/** Where jobs run, and which sites get new ones. */
export const sitesSection: Section = async (input) => {
  const { sites } = await input.client.listSites({ signal: input.signal });
  return [
    h('h2', {}, 'Sites'),
    wideTable(
      'Sites',
      ['Site', 'Backend', 'What it has', 'State', 'Action'],
      sites.map((site) => [
        [h('b', {}, site.name), site.cluster !== undefined && h('small', {}, site.cluster)],
        site.backend,
        capacityOf(site),
        stateOf(site),
        [
          site.state === 'open' ? drainButton(site, input) : resumeButton(site, input),
          ' ',
          removeButton(site, input),
        ],
      ]),
    ),
    addForm(input),
  ];
};

const BACKENDS: Record<AddSiteRequest['backend'], string> = {
  worker: 'worker: programs that join it from other machines',
  'local-process': 'local-process: the machine of the service',
  slurm: 'slurm: a batch system, with the service on its login node',
};

function capacityOf({
  processors,
  ramMB,
  gpus,
  slots,
  tags = [],
  setups = [],
}: SiteResponse): Child {
  const facts = [
    processors !== undefined && `${processors} processors`,
    ramMB !== undefined && `${ramMB} MB of memory`,
    gpus !== undefined && `${gpus} GPUs`,
    slots !== undefined && `${slots} jobs at once`,
    tags.length > 0 && `tags ${tags.join(' ')}`,
    setups.length > 0 && `setups ${setups.join(' ')}`,
  ].filter((fact) => fact !== false);
  return facts.length > 0 ? facts.join(', ') : 'as its machines have';
}

function removeButton({ name }: SiteResponse, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  const question = `Remove ${name} from the registry? Jobs that only it can hold wait until there is one like it.`;
  const look = { label: `Remove ${name}`, look: 'danger small', note };
  return actionButton('Remove', look, async () => {
    if (!(await confirmed(question, 'Remove'))) return;
    await client.removeSite(name);
    await refresh();
    update(note, doneBox(`${name} is removed.`));
  });
}

/** What else a site can have is set by the command or the API. */
function addForm({ client, note, refresh }: SectionInput): HTMLElement {
  const name = textField('site-name', 'Name', 'DESK.example', { required: true });
  const backend = h(
    'select',
    { id: 'site-backend' },
    Object.entries(BACKENDS).map(([value, text]) => h('option', { value }, text)),
  );
  const numbers = {
    processors: textField('site-processors', 'Processors', '64', {
      hint: 'Empty: what its machines have',
    }),
    ramMB: textField('site-memory', 'Memory (MB)', '256000', {
      hint: 'Empty: what its machines have',
    }),
  };
  const tags = textField('site-tags', 'Tags', 'el9 GPU', {
    hint: 'What jobs may ask for by name, separated by blanks',
  });
  const button = h('button', { type: 'submit' }, 'Add');
  const add = async (): Promise<void> => {
    name.mark();
    const given = Object.entries(numbers).flatMap(([key, field]) => numberOf(key, field));
    const added = await client.addSite({
      name: required(name),
      backend: backend.value as AddSiteRequest['backend'],
      ...Object.fromEntries(given),
      ...(tags.input.value.trim() !== '' && { tags: listOf(tags.input.value) }),
    });
    await refresh();
    const secret = `Workers join it with a secret: gridgate site secret add ${added.name}, where the service runs, makes one.`;
    const next = added.backend === 'worker' ? ` ${secret}` : '';
    update(note, doneBox(`${added.name} is added.${next}`));
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    once(button, note, add);
  };
  return h(
    'form',
    { class: 'form', noValidate: true, onSubmit },
    h('h3', {}, 'Add a site'),
    name.element,
    h('div', { class: 'field' }, h('label', { htmlFor: 'site-backend' }, 'Backend'), backend),
    ...[numbers.processors, numbers.ramMB, tags].map(({ element }) => element),
    button,
  );
}

/** What is no number the service refuses. */
function numberOf(key: string, { input }: TextField): [string, unknown][] {
  const text = input.value.trim();
  if (text === '') return [];
  return [[key, /^\d{1,15}$/.test(text) ? Number(text) : text]];
}

function stateOf({ state, since, by, reason, fault }: SiteResponse): Child {
  const drained = state === 'drained' && since !== undefined;
  return [
    h('div', {}, drained ? ['Drained ', timeText(since), ` by ${by ?? ''}`] : 'Open'),
    drained && h('small', {}, reason ?? ''),
    fault !== undefined && h('small', {}, fault),
  ];
}

function drainButton({ name }: SiteResponse, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  const question = `Give ${name} no new jobs? What runs there goes on; jobs that only ${name} can hold wait, and their owners read the reason.`;
  const asked = { label: 'Reason', action: 'Drain', most: LONGEST_REASON };
  return actionButton('Drain', { label: `Drain ${name}`, look: 'danger small', note }, async () => {
    const reason = await askedFor(question, asked);
    if (reason === undefined) return;
    await client.drainSite(name, { reason });
    await refresh();
    update(note, doneBox(`${name} is drained.`));
  });
}

function resumeButton({ name }: SiteResponse, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  return actionButton('Resume', { label: `Resume ${name}`, note }, async () => {
    await client.resumeSite(name);
    await refresh();
    update(note, doneBox(`${name} gets jobs again.`));
  });
}

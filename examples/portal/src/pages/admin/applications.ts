import type { AddedApplicationResponse, ApplicationResponse } from 'gridgate/client';
import { actionButton, once, wideTable } from '../../parts/action.js';
import { h, say, update, type Child } from '../../parts/dom.js';
import { textField } from '../../parts/field.js';
import { confirmed } from '../../parts/pieces.js';
import { doneBox, type Section, type SectionInput } from './section.js';

/** Programs that act for users. */
export const applicationsSection: Section = async (input) => {
  const { applications } = await input.client.listApplications({ signal: input.signal });
  return [
    h('h2', {}, 'Applications'),
    wideTable(
      'Applications',
      ['Application', 'Proves itself by', 'Redirect URIs', 'Kept by', 'Action'],
      applications.map((one) => row(one, input)),
    ),
    addForm(input),
  ];
};

function row(application: ApplicationResponse, input: SectionInput): Child[] {
  const { id, name, authentication, redirectUris, origin } = application;
  const ways: Record<string, string> = { none: 'nothing', client_secret: 'a secret' };
  return [
    [h('b', {}, name), h('small', {}, id)],
    ways[authentication] ?? authentication,
    redirectUris.map((uri) => h('div', { class: 'file' }, uri)),
    origin === 'file' ? 'registry file' : 'administrators',
    removeButton(application, input),
  ];
}

function removeButton({ id, name }: ApplicationResponse, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  const question = `Remove ${name} (${id})? All of its tokens are refused from then on, and its users cannot sign in with it any more.`;
  return actionButton('Remove', { label: `Remove ${id}`, look: 'danger small', note }, async () => {
    if (!(await confirmed(question, 'Remove'))) return;
    await client.removeApplication(id);
    await refresh();
    update(note, doneBox(`${name} is removed.`));
  });
}

function addForm(input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  const name = textField('application-name', 'Name', 'My portal', {
    required: true,
    hint: 'Users see it when they are asked',
  });
  const id = textField('application-id', 'client_id', 'my-portal', {
    hint: 'Made up when it is left out',
  });
  const uris = textField(
    'application-uris',
    'Redirect URIs',
    'https://portal.example.org/callback',
    {
      hint: 'Several are separated by blanks; none for programs that use the device flow',
    },
  );
  const confidential = h('input', { type: 'checkbox', id: 'application-secret' });
  const button = h('button', { type: 'submit' }, 'Register');
  const add = async (): Promise<void> => {
    const wanted = id.input.value.trim();
    const added = await client.addApplication({
      name: name.input.value.trim(),
      redirectUris: uris.input.value.split(/\s+/).filter((uri) => uri !== ''),
      confidential: confidential.checked,
      ...(wanted !== '' && { id: wanted }),
    });
    await refresh();
    update(note);
    note.append(addedBox(added));
    note.querySelector('button')?.focus();
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    once(button, note, add);
  };
  return h(
    'form',
    { class: 'form', noValidate: true, onSubmit },
    h('h3', {}, 'Register an application'),
    ...[name.element, id.element, uris.element],
    h(
      'p',
      { class: 'switch' },
      confidential,
      h('label', { htmlFor: confidential.id }, 'It can keep a secret'),
    ),
    button,
  );
}

/** The secret is told once, here. */
function addedBox({ id, secret }: AddedApplicationResponse): HTMLElement {
  if (secret === undefined) return doneBox(`${id} is registered.`);
  const copied = h('div');
  const copy = actionButton('Copy the secret', { note: copied }, async () => {
    await navigator.clipboard.writeText(secret);
    say('The secret is copied');
    copied.textContent = 'Copied.';
  });
  return h(
    'div',
    { class: 'note', role: 'status' },
    h('p', {}, `${id} is registered. Its secret, told only now: `, h('code', {}, secret)),
    copy,
    copied,
  );
}

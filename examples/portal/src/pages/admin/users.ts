import { parseJson, type UserListResponse, type UserResponse } from 'gridgate/client';
import { actionButton, once, wideTable } from '../../parts/action.js';
import { h, update, type Child } from '../../parts/dom.js';
import { textField } from '../../parts/field.js';
import { confirmed } from '../../parts/pieces.js';
import { doneBox, type Section, type SectionInput } from './section.js';

const ON_A_PAGE = '50';

/** Who may use the service. */
export const usersSection: Section = async (input) => {
  const { client, query, signal } = input;
  const asked = new URLSearchParams({ limit: ON_A_PAGE });
  for (const name of ['search', 'after']) {
    const value = query.get(name);
    if (value) asked.set(name, value);
  }
  const { answer, next } = await client.raw(
    { method: 'GET', path: `/admin/users?${asked.toString()}`, answer: 'json' },
    { signal },
  );
  const { users, total } = parseJson(await answer.text()) as unknown as UserListResponse;
  const count = total === 1 ? 'One user' : `${total} users`;
  return [
    h('h2', {}, 'Users'),
    searchForm(query.get('search') ?? ''),
    h('p', { class: 'soft' }, users.length < total ? `${users.length} of ${count}` : count),
    users.length > 0 &&
      wideTable(
        'Users',
        ['Name', 'Groups', 'Signs in with', 'Action'],
        users.map((user) => row(user, input)),
      ),
    next !== undefined &&
      h('p', {}, h('a', { href: `#/admin/users?${next.split('?')[1] ?? ''}` }, 'Next page')),
    addForm(input),
  ].filter((part) => part !== false);
};

function row(user: UserResponse, input: SectionInput): Child[] {
  const { name, fullName, email, groups, certificates, subjects, disabled } = user;
  const ways = [
    ...certificates.map(({ subject }) => subject),
    ...subjects.map(({ issuer, sub }) => `${sub} at ${issuer}`),
  ];
  const links = groups.map((group) =>
    h('div', {}, h('a', { href: `#/admin/groups/${encodeURIComponent(group)}` }, group)),
  );
  return [
    [h('b', {}, name), [fullName, email].map((text) => text !== undefined && h('small', {}, text))],
    disabled ? [h('div', {}, 'Disabled'), links] : links,
    ways.map((way) => h('div', { class: 'file' }, way)),
    disabled ? enableButton(user, input) : disableButton(user, input),
  ];
}

function disableButton({ name }: UserResponse, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  const question =
    `Disable ${name}? All tokens of ${name} are refused from then on. ` +
    `Jobs, files and groups stay for when ${name} is enabled again.`;
  return actionButton(
    'Disable',
    { label: `Disable ${name}`, look: 'danger small', note },
    async () => {
      if (!(await confirmed(question, 'Disable'))) return;
      await client.disableUser(name);
      await refresh();
      update(note, doneBox(`${name} is disabled.`));
    },
  );
}

function enableButton({ name }: UserResponse, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  return actionButton('Enable', { label: `Enable ${name}`, look: 'small', note }, async () => {
    await client.enableUser(name);
    await refresh();
    update(note, doneBox(`${name} is enabled.`));
  });
}

function addForm({ client, note, refresh }: SectionInput): HTMLElement {
  const name = textField('user-name', 'Name', 'dora', {
    required: true,
    hint: 'Owner of the jobs and files; without blanks, slashes and commas',
  });
  const certificate = textField('user-certificate', 'Certificate', '/DC=org/CN=Dora Example', {
    hint: 'Its subject; left out where an identity provider says who it is',
  });
  const fullName = textField('user-full-name', 'Full name', 'Dora Example');
  const email = textField('user-email', 'E-mail address', 'dora@example.org');
  const groups = textField('user-groups', 'Groups', 'grid_user', {
    hint: 'Several are separated by blanks',
  });
  const button = h('button', { type: 'submit' }, 'Add');
  const add = async (): Promise<void> => {
    const [subject, full, address] = [certificate, fullName, email].map(({ input }) =>
      input.value.trim(),
    );
    const added = await client.addUser({
      name: name.input.value.trim(),
      groups: groups.input.value.split(/\s+/).filter((group) => group !== ''),
      ...(subject && { certificates: [{ subject }] }),
      ...(full && { fullName: full }),
      ...(address && { email: address }),
    });
    await refresh();
    update(note, doneBox(`${added.name} is added.`));
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    once(button, note, add);
  };
  return h(
    'form',
    { class: 'form', noValidate: true, onSubmit },
    h('h3', {}, 'Add a user'),
    ...[name, certificate, fullName, email, groups].map(({ element }) => element),
    button,
  );
}

/** What was looked for stands in the address. */
function searchForm(search: string): HTMLElement {
  const field = textField('user-search', 'Look for', 'alice', {
    hint: 'A part of a name, e-mail address, certificate or subject',
  });
  field.input.value = search;
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const wanted = new URLSearchParams({ search: field.input.value.trim() });
    location.hash = `#/admin/users?${wanted.toString()}`;
  };
  return h(
    'form',
    { class: 'form', role: 'search', onSubmit },
    field.element,
    h('button', { type: 'submit', class: 'plain' }, 'Look'),
  );
}

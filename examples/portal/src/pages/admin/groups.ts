import type { GroupResponse } from 'gridgate/client';
import { actionButton, once, wideTable } from '../../parts/action.js';
import { h, update } from '../../parts/dom.js';
import { textField } from '../../parts/field.js';
import { confirmed } from '../../parts/pieces.js';
import { doneBox, type Section, type SectionInput } from './section.js';

/** All groups, or one with its members. */
export const groupsSection: Section = async (input) => {
  const { client, path, signal } = input;
  const [name] = path;
  if (name) return oneGroup(await client.getGroup(name, { signal }), input);
  const { groups } = await client.listAllGroups({ signal });
  return [
    h('h2', {}, 'Groups'),
    wideTable(
      'Groups',
      ['Group', 'Virtual organisation', 'Properties', 'Members'],
      groups.map((group) => [
        h('a', { href: `#/admin/groups/${encodeURIComponent(group.name)}` }, group.name),
        group.vo ?? '–',
        group.properties.join(', '),
        group.members.length,
      ]),
    ),
  ];
};

function oneGroup(group: GroupResponse, input: SectionInput): HTMLElement[] {
  const { name, vo, properties, members } = group;
  const about = [vo === undefined ? 'No virtual organisation' : `Of ${vo}`, properties.join(', ')];
  return [
    h('p', {}, h('a', { href: '#/admin/groups' }, 'All groups')),
    h('h2', {}, name),
    h('p', { class: 'soft' }, about.join('. ')),
    addForm(group, input),
    h('h3', {}, members.length === 1 ? 'One member' : `${members.length} members`),
    h(
      'ul',
      { class: 'files' },
      members.map((user) =>
        h('li', {}, h('span', { class: 'file' }, user), removeButton(group, user, input)),
      ),
    ),
  ];
}

function removeButton(group: GroupResponse, user: string, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  const { name } = group;
  const question = `Take ${user} out of ${name}? Tokens of ${user} for ${name} are refused from then on; jobs and files stay.`;
  return actionButton(
    'Remove',
    { label: `Remove ${user}`, look: 'danger small', note },
    async () => {
      if (!(await confirmed(question, 'Remove'))) return;
      await client.removeGroupMember(name, user);
      await refresh();
      update(note, doneBox(`${user} is no member of ${name} any more.`));
    },
  );
}

function addForm({ name, properties }: GroupResponse, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  const field = textField('new-member', 'New member', 'alice', { required: true });
  const button = h('button', { type: 'submit', class: 'plain' }, 'Add');
  const add = async (): Promise<void> => {
    const user = field.input.value.trim();
    const isPowerful = properties.includes('ServiceAdministrator');
    const question = `Take ${user} into ${name}? ${user} will be able to administer the service, you included.`;
    if (isPowerful && !(await confirmed(question, 'Add'))) return;
    await client.addGroupMember(name, user);
    await refresh();
    update(note, doneBox(`${user} is a member of ${name}.`));
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    once(button, note, add);
  };
  return h('form', { class: 'form', onSubmit }, field.element, button);
}

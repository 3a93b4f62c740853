import { actionButton } from '../parts/action.js';
import { h } from '../parts/dom.js';
import { applicationsSection } from './admin/applications.js';
import { auditSection } from './admin/audit.js';
import { groupsSection } from './admin/groups.js';
import { keysSection } from './admin/keys.js';
import type { Section } from './admin/section.js';
import { sitesSection } from './admin/sites.js';
import { usersSection } from './admin/users.js';
import { workersSection } from './admin/workers.js';
import type { Page, PageInput } from './page.js';

const SECTIONS: { name: string; title: string; section: Section }[] = [
  { name: 'users', title: 'Users', section: usersSection },
  { name: 'groups', title: 'Groups', section: groupsSection },
  { name: 'applications', title: 'Applications', section: applicationsSection },
  { name: 'keys', title: 'Keys', section: keysSection },
  { name: 'sites', title: 'Sites', section: sitesSection },
  { name: 'workers', title: 'Workers', section: workersSection },
  { name: 'audit', title: 'Audit', section: auditSection },
];

/** Administration of the service, for who is signed in with the scope `admin`; offers that sign-in to those who may. */
export const adminPage: Page = async (input) => {
  const { client, root, path, query, signal, administration } = input;
  if (!input.may('admin')) {
    root.replaceChildren(...(await explanation(input)));
    return;
  }
  const [first, ...rest] = path;
  const current = SECTIONS.find(({ name }) => name === first) ?? SECTIONS[0];
  if (!current) return;
  const note = h('div', { tabIndex: -1 });
  const content = h('section', { class: 'card' });
  const refresh = async (): Promise<void> => {
    const asked = { client, path: rest, query, signal, note, refresh };
    content.replaceChildren(...(await current.section(asked)));
    if (document.activeElement === document.body) note.focus(); // what was pressed is gone
  };
  await refresh();
  root.replaceChildren(
    h(
      'div',
      { class: 'head' },
      h('h1', {}, 'Administration'),
      actionButton('Give these rights back', { look: 'plain', note }, administration.end),
    ),
    h(
      'nav',
      { class: 'sections', 'aria-label': 'Sections of administration' },
      SECTIONS.map(({ name, title }) =>
        h(
          'a',
          { href: `#/admin/${name}`, 'aria-current': name === current.name ? 'page' : undefined },
          title,
        ),
      ),
    ),
    note,
    content,
  );
};

async function explanation({ administration }: PageInput): Promise<HTMLElement[]> {
  const title = h('h1', {}, 'Administration');
  if (!(await administration.isPossible())) {
    const text =
      'The group that you have signed in with does not administer the service. Its members need the property ServiceAdministrator.';
    return [title, h('p', {}, text)];
  }
  const note = h('div');
  return [
    title,
    h(
      'section',
      { class: 'card form' },
      h(
        'p',
        {},
        'You are signed in for your everyday work, without the rights to administer the service: so nothing that goes wrong with it can change users, applications, keys or sites.',
      ),
      h(
        'p',
        {},
        'Sign in once more to have them as well. The service asks you whether the portal may; the rights end when you give them back, sign out or close the browser.',
      ),
      actionButton('Sign in to administer', { look: 'big', note }, administration.begin),
      note,
    ),
  ];
}

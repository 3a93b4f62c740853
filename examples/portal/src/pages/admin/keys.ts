import { actionButton, wideTable } from '../../parts/action.js';
import { h, update } from '../../parts/dom.js';
import { confirmed, timeText } from '../../parts/pieces.js';
import { doneBox, type Section } from './section.js';

const STATES = {
  next: 'next, published already',
  scheduled: 'takes over soon',
  signing: 'signs',
  retired: 'signed what still lives',
};
const QUESTION =
  'Let the next signing keys take over? They sign at once, or as soon as they have been published for ten minutes. Tokens stay good, and this cannot be taken back.';

/** The keys that sign tokens. */
export const keysSection: Section = async ({ client, signal, note, refresh }) => {
  const { keys } = await client.listSigningKeys({ signal });
  const rotate = actionButton('Rotate', { look: 'danger', note }, async () => {
    if (!(await confirmed(QUESTION, 'Rotate'))) return;
    await client.rotateSigningKeys();
    await refresh();
    update(note, doneBox('The next keys take over.'));
  });
  return [
    h('h2', {}, 'Signing keys'),
    wideTable(
      'Signing keys',
      ['Key', 'Signs', 'Algorithm', 'State', 'Made', 'Active'],
      keys.map(({ kid, tokens, algorithm, state, createdAt, activeFrom }) => [
        h('code', {}, kid),
        tokens === 'id' ? 'ID tokens' : 'access tokens',
        algorithm,
        STATES[state],
        timeText(createdAt),
        activeFrom === undefined ? '–' : timeText(activeFrom),
      ]),
    ),
    h('p', {}, rotate),
  ];
};

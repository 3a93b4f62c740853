import type { SiteResponse } from 'gridgate/client';
import { actionButton, askedFor, wideTable } from '../../parts/action.js';
import { h, update, type Child } from '../../parts/dom.js';
import { timeText } from '../../parts/pieces.js';
import { doneBox, type Section, type SectionInput } from './section.js';

const LONGEST_REASON = 500;

/** Where jobs run, and which sites get new ones. */
export const sitesSection: Section = async (input) => {
  const { sites } = await input.client.listSites({ signal: input.signal });
  return [
    h('h2', {}, 'Sites'),
    wideTable(
      'Sites',
      ['Site', 'Backend', 'State', 'Action'],
      sites.map((site) => [
        [h('b', {}, site.name), site.cluster !== undefined && h('small', {}, site.cluster)],
        site.backend,
        stateOf(site),
        site.state === 'open' ? drainButton(site, input) : resumeButton(site, input),
      ]),
    ),
  ];
};

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

import {
  GridError,
  stringifyJson,
  type AuditEventResponse,
  type AuditSearchResponse,
} from 'gridgate/client';
import { wideTable } from '../../parts/action.js';
import { h, type Child } from '../../parts/dom.js';
import { textField, type TextField } from '../../parts/field.js';
import { faultBox, timeText } from '../../parts/pieces.js';
import type { Section } from './section.js';

/** What the form asks for, by the names of the query. */
const FIELDS: [name: string, label: string, example: string, hint: string][] = [
  ['event', 'Event', 'job.*', 'A name, or all that begin alike'],
  ['user', 'User', 'alice', 'Or the account that ran a command'],
  ['outcome', 'Outcome', 'refused', 'done or refused'],
  ['since', 'From', '2026-01-31', 'A day, or an instant'],
  ['until', 'Before', '2026-02-01', 'A day, or an instant'],
];
const DAY_MS = 86_400_000;

/** Who did what, over all instances, newest first; what is asked for stands in the address. */
export const auditSection: Section = async ({ client, query, signal }) => {
  const asked = Object.fromEntries(
    [...FIELDS.map(([name]) => name), 'before'].flatMap((name) => {
      const value = query.get(name);
      return value === null || value === '' ? [] : [[name, value]];
    }),
  );
  const head = [h('h2', {}, 'Audit trail'), form(asked)];
  try {
    return [...head, ...found(await client.searchAudit(asked, { signal }), asked)];
  } catch (error) {
    if (error instanceof GridError && error.status === 400) return [...head, faultBox(error)];
    throw error;
  }
};

function found({ events, next }: AuditSearchResponse, asked: object): HTMLElement[] {
  if (events.length === 0) return [h('p', { class: 'empty' }, 'Nothing like that is kept.')];
  const table = wideTable(
    'Audit trail',
    ['Time', 'Event', 'Who', 'Details', 'Instance'],
    events.map((event) => row(event)),
  );
  if (next === undefined) return [table];
  const older = new URLSearchParams({ ...asked, before: next });
  return [table, h('p', {}, h('a', { href: `#/admin/audit?${older.toString()}` }, 'Older ones'))];
}

function row({
  time,
  event,
  outcome,
  user,
  group,
  client,
  details,
  instance,
}: AuditEventResponse): Child[] {
  const { account, ...rest } = details;
  const who = user ?? (typeof account === 'string' ? `${account} (command)` : '–');
  return [
    timeText(time),
    [h('b', {}, event), outcome === 'refused' && h('small', { class: 'wrong' }, 'refused')],
    [who, [group, client].map((text) => text !== undefined && h('small', {}, text))],
    Object.entries(rest).map(([name, value]) =>
      h(
        'div',
        { class: 'file' },
        `${name}: ${typeof value === 'string' ? value : stringifyJson(value)}`,
      ),
    ),
    instance,
  ];
}

function form(asked: Record<string, string>): HTMLElement {
  const fields = FIELDS.map(([name, label, example, hint]): [string, TextField] => {
    const field = textField(`audit-${name}`, label, example, { hint });
    field.input.value = asked[name] ?? '';
    return [name, field];
  });
  const open = (wanted: Record<string, string>): void => {
    location.hash = `#/admin/audit?${new URLSearchParams(wanted).toString()}`;
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const given = fields.map(([name, { input }]) => [name, input.value.trim()] as const);
    open(Object.fromEntries(given.filter(([, value]) => value !== '')));
  };
  const refusals = (): void =>
    open({ outcome: 'refused', since: new Date(Date.now() - DAY_MS).toISOString() });
  return h(
    'form',
    { class: 'form', role: 'search', noValidate: true, onSubmit },
    fields.map(([, { element }]) => element),
    h(
      'div',
      { class: 'actions' },
      h('button', { type: 'submit', class: 'plain' }, 'Search'),
      h('button', { type: 'button', class: 'plain', onClick: refusals }, 'Refusals of a day'),
    ),
  );
}

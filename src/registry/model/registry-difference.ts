import { stringifyJson } from '#src/kernel/index.js';
import type { RegistryContents, RegistrySection, UserCertificate } from './registry.types.js';
import { certificateText } from './user-certificate.js';

/** One item that a load adds, removes or changes; `details` say what in words. */
export interface RegistryChange {
  section: RegistrySection;
  name: string;
  kind: 'added' | 'removed' | 'changed' | 'moved';
  details: string[];
}

/** What a load changes; empty when the file says what the registry holds already. */
export interface RegistryDifference {
  changes: RegistryChange[];
}

const SECTIONS: RegistrySection[] = [
  'users',
  'groups',
  'setups',
  'applications',
  'storageElements',
  'sites',
  'shares',
];

type Item = Record<string, unknown>;

/** Compares two states of the registry, item by item. Secrets are never in the details. */
export function difference(before: RegistryContents, after: RegistryContents): RegistryDifference {
  return { changes: SECTIONS.flatMap((section) => sectionChanges(section, before, after)) };
}

/** The difference as lines for people: `+ users.alice`, `~ groups.grid_user: members -bob`. */
export function describeDifference(found: RegistryDifference): string[] {
  const sign = { added: '+', removed: '-', changed: '~', moved: '~' };
  return found.changes.map(({ kind, section, name, details }) => {
    const what = details.length > 0 ? `: ${details.join(', ')}` : '';
    return `${sign[kind]} ${section}.${name}${what}`;
  });
}

function sectionChanges(
  section: RegistrySection,
  before: RegistryContents,
  after: RegistryContents,
): RegistryChange[] {
  const old = itemsOf(before, section);
  const now = itemsOf(after, section);
  const changes: RegistryChange[] = [];
  for (const name of old.keys()) {
    if (!now.has(name)) changes.push({ section, name, kind: 'removed', details: [] });
  }
  for (const [name, item] of now) {
    const known = old.get(name);
    if (!known) changes.push({ section, name, kind: 'added', details: [] });
    else {
      const details = memberChanges(known, item);
      if (details.length > 0) changes.push({ section, name, kind: 'changed', details });
    }
  }
  const oldOrder = [...old.keys()].filter((name) => now.has(name));
  const newOrder = [...now.keys()].filter((name) => old.has(name));
  const moved = newOrder.find((name, place) => name !== oldOrder[place]);
  if (moved !== undefined) {
    changes.push({ section, name: moved, kind: 'moved', details: ['order'] });
  }
  return changes;
}

function itemsOf(contents: RegistryContents, section: RegistrySection): Map<string, Item> {
  const items: readonly object[] = contents[section];
  return new Map(
    items.map((item) => {
      const plain = plainItem(item);
      return [String(plain['id'] ?? plain['name']), plain];
    }),
  );
}

/** Certificates as lines for people: a plain DN stays one. */
function plainItem(item: object): Item {
  const plain = { ...item } as Item;
  const certificates = plain['certificates'] as UserCertificate[] | undefined;
  return certificates ? { ...plain, certificates: certificates.map(certificateText) } : plain;
}

function memberChanges(before: Item, after: Item): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  keys.delete('origin'); // who keeps an application is not said by a file
  return [...keys].flatMap((key) => valueChange(key, before[key], after[key]));
}

function valueChange(key: string, before: unknown, after: unknown): string[] {
  const [old, now] = [plainOf(before), plainOf(after)];
  if (canonicalText(old) === canonicalText(now)) return [];
  if (key === 'secretHash') return ['secretHash changed'];
  if (key === 'disabled') return [now === true ? 'disabled' : 'enabled'];
  if (Array.isArray(old) && Array.isArray(now)) {
    const [oldWords, newWords] = [old.map(canonicalText), now.map(canonicalText)];
    const removed = oldWords.filter((word) => !newWords.includes(word)).map((word) => `-${word}`);
    const added = newWords.filter((word) => !oldWords.includes(word)).map((word) => `+${word}`);
    return [`${key} ${[...removed, ...added].join(' ') || 'order'}`];
  }
  return [`${key} ${canonicalText(old)} -> ${canonicalText(now)}`];
}

function plainOf(value: unknown): unknown {
  return value instanceof Set ? [...(value as Set<unknown>)].sort() : value;
}

function canonicalText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return '(none)';
  return stringifyJson(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

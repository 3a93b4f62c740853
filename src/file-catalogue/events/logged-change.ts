import type { LoggedEvent } from '#src/events/index.js';
import type { Guarded } from '../access/catalogue.policy.js';
import { joinPath } from '../path/catalogue-path.js';

/** What a change is about. Metadata may be of a directory or of a file. */
export type ChangeKind = 'directory' | 'file' | 'metadata';
/** What has become of it. */
export type ChangeOutcome = 'created' | 'changed' | 'removed' | 'moved';

/** A directory, and the bits on the way to it and its own, each different ones once. */
export interface Place {
  path: string;
  bits: readonly Guarded[];
}

/** A change as the event log has it. */
export interface LoggedChange {
  position: number;
  kind: ChangeKind;
  change: ChangeOutcome;
  path: string;
  isDirectory: boolean;
  /** The directory itself, or that of the file, as it was left. */
  place: Place;
  /** A directory whose owner, group or mode has changed: as it was before. One that was moved: where it was. */
  before?: Place;
}

const KINDS: Record<string, ChangeKind> = { d: 'directory', f: 'file', m: 'metadata' };
const OUTCOMES: Record<string, ChangeOutcome> = {
  c: 'created',
  h: 'changed',
  r: 'removed',
  v: 'moved',
};

/** Letters of kinds and outcomes in the log. */
export const LETTERS = {
  ...lettersOf(KINDS),
  ...lettersOf(OUTCOMES),
} as Record<ChangeKind | ChangeOutcome, string>;

/** A place in the log: its path and bits, or which event of the row has them. */
export type PlaceRow = [path: string, bits: string] | number;
/** An event in the log. The name is that of a file. */
export type ChangeRow = [
  kind: string,
  change: string,
  place: PlaceRow,
  name?: string | null,
  before?: [string, string],
];

/** The change that an event of the log is. */
export function loggedChange({ position, event, row }: LoggedEvent): LoggedChange {
  const [kind, change, where, name = null, before] = event as ChangeRow;
  const place = placeOf(where, row);
  return {
    position,
    kind: KINDS[kind] as ChangeKind,
    change: OUTCOMES[change] as ChangeOutcome,
    path: name === null ? place.path : joinPath(place.path, name),
    isDirectory: name === null,
    place,
    ...(before && { before: { path: before[0], bits: readBits(before[1]) } }),
  };
}

function placeOf(where: PlaceRow, row: readonly unknown[][]): Place {
  const [path, bits] = (typeof where === 'number' ? (row[where] as ChangeRow)[2] : where) as [
    string,
    string,
  ];
  return { path, bits: readBits(bits) };
}

/** Bits as a text: those on the way to a directory, which have been made one, and then its own. */
export function bitsText(above: string, own: Guarded): string {
  const text = `${own.owner_id}.${own.group_id}.${own.mode}`;
  if (above === '') return text;
  return above.split(' ').includes(text) ? above : `${above} ${text}`;
}

function readBits(text: string): Guarded[] {
  return text
    .split(' ')
    .filter((one) => one !== '')
    .map((one) => {
      const [owner = 0, group = 0, mode = 0] = one.split('.').map(Number);
      return { owner_id: owner, group_id: group, mode };
    });
}

function lettersOf(words: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(words).map(([letter, word]) => [word, letter]));
}

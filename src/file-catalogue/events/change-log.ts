import type { Transaction } from '#src/database/index.js';
import { logRow, type EventLog } from '#src/events/index.js';
import {
  LETTERS,
  type ChangeKind,
  type ChangeOutcome,
  type ChangeRow,
  type PlaceRow,
} from './logged-change.js';

/** Events of one row of the log, and characters of its texts: whoever reads one of them reads the row. */
const ROW_EVENTS = 1_000;
const ROW_CHARACTERS = 500_000;

const LOG_ROW = logRow('filecatalogue');

/** A directory with the bits on the way to it and its own (`bitsText`). */
export interface WrittenPlace {
  path: string;
  bits: string;
}

/** Collects what a transaction changes of the catalogue, in order, for the event log. */
export class ChangeLog {
  private readonly rows: { n: number; text: string }[] = [];
  private events: ChangeRow[] = [];
  /** Which event of the row has a place. */
  private places = new Map<WrittenPlace, number>();
  private characters = 0;

  /** A directory, or its metadata. `before` is what it was, or where. */
  directory(
    kind: Exclude<ChangeKind, 'file'>,
    change: ChangeOutcome,
    { place, before }: { place: WrittenPlace; before?: WrittenPlace | undefined },
  ): void {
    const where = this.placeRow(place);
    if (before) this.add([LETTERS[kind], LETTERS[change], where, null, [before.path, before.bits]]);
    else this.add([LETTERS[kind], LETTERS[change], where]);
  }

  /** A file of a directory, or its metadata. */
  file(
    kind: Exclude<ChangeKind, 'directory'>,
    change: ChangeOutcome,
    { place, name }: { place: WrittenPlace; name: string },
  ): void {
    this.characters += name.length;
    this.add([LETTERS[kind], LETTERS[change], this.placeRow(place), name]);
  }

  /** Writes it in the transaction of the changes, as the last thing there. */
  async write(transaction: Transaction, log: EventLog): Promise<void> {
    this.endRow();
    if (this.rows.length === 0) return;
    for (const { n, text } of this.rows) {
      const values = [n, text];
      await transaction.execute({ name: 'catalogue-events', text: LOG_ROW, values });
    }
    log.wrote('filecatalogue', transaction);
  }

  private placeRow(place: WrittenPlace): PlaceRow {
    const known = this.places.get(place);
    if (known !== undefined) return known;
    this.places.set(place, this.events.length);
    this.characters += place.path.length + place.bits.length;
    return [place.path, place.bits];
  }

  private add(event: ChangeRow): void {
    this.events.push(event);
    if (this.events.length >= ROW_EVENTS || this.characters >= ROW_CHARACTERS) this.endRow();
  }

  private endRow(): void {
    const { events } = this;
    if (events.length === 0) return;
    this.rows.push({ n: events.length, text: JSON.stringify(events) });
    this.events = [];
    this.places = new Map();
    this.characters = 0;
  }
}

import { randomId } from '#src/kernel/index.js';

const COUNTED = 0x1000;
let last = 0;
let count = 0;

/**
 * A UUID version 7 (RFC 9562): milliseconds since 1970, then a counter of this process, then random bits. Ids of one process are
 * in the order in which they were made as long as its clock does not go back.
 */
export function timeOrderedId(milliseconds: number): string {
  count = milliseconds === last ? (count + 1) % COUNTED : 0;
  last = milliseconds;
  const counter = count.toString(16).padStart(3, '0');
  return `${timeOf(milliseconds)}-7${counter}-${randomId().slice(19)}`;
}

/** What no id of this millisecond or a later one is less than. */
export function leastIdOf(milliseconds: number): string {
  return `${timeOf(Math.max(0, milliseconds))}-0000-0000-000000000000`;
}

function timeOf(milliseconds: number): string {
  const digits = milliseconds.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100; // USER_HZ of every Linux that runs Node

/** Milliseconds of processor time that a process, its living descendants and all that they have reaped have used (Linux). */
export function processorTime(pid) {
  return familyOf(pid).reduce((sum, { usedMs }) => sum + usedMs, 0);
}

/** A process and its living descendants: {id, usedMs}; the time of those that it has reaped is in its own. */
export function familyOf(pid) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    const entry = /^\d+$/.test(name) ? entryOf(name) : undefined;
    if (!entry) continue;
    children.set(entry.parent, [...(children.get(entry.parent) ?? []), entry]);
  }
  const below = (parent) =>
    (children.get(parent) ?? []).flatMap((entry) => [entry, ...below(entry.id)]);
  return [entryOf(String(pid)) ?? [], below(pid)].flat();
}

function entryOf(name) {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return {
      id: Number(name),
      parent: Number(fields[1]),
      usedMs: (ticks * 1_000) / TICKS_PER_SECOND,
    };
  } catch {
    return undefined; // it has ended
  }
}

import { ChangeFault } from '../model/change-fault.js';
import type { RegistryContents } from '../model/registry.types.js';
import { readEntry, type EntrySection } from './registry-file.js';
import { groupBody, siteBody, userBody } from './registry-writing.js';

const KINDS = { users: 'user', groups: 'group', sites: 'site' } as const;
const BODIES: { [S in EntrySection]: (item: RegistryContents[S][number]) => object } = {
  users: userBody,
  groups: groupBody,
  sites: siteBody,
};

/** One user, group or site more, of what a file would say of it. Throws ChangeFault, and RegistryFileError for faults of form. */
export function withEntry<S extends EntrySection>(
  contents: RegistryContents,
  section: S,
  name: string,
  body: object,
): Pick<RegistryContents, S> {
  const entries: readonly { name: string }[] = contents[section];
  if (entries.some((one) => one.name === name)) {
    const kind = KINDS[section];
    throw new ChangeFault(`${kind}-exists`, `there is already a ${kind} ${name}`);
  }
  return sectionOf(section, [...contents[section], readEntry(section, name, given(body))]);
}

/**
 * Members of a user, group or site are replaced, each as a whole; null takes one away, undefined ones and the others stay. Throws ChangeFault, and RegistryFileError
 * for faults of form.
 */
export function withChangedEntry<S extends EntrySection>(
  contents: RegistryContents,
  section: S,
  name: string,
  changes: object,
): Pick<RegistryContents, S> {
  const entries: readonly RegistryContents[S][number][] = contents[section];
  const before = entries.find((one) => one.name === name);
  if (!before)
    throw new ChangeFault(`no-${KINDS[section]}`, `there is no ${KINDS[section]} ${name}`);
  const after = readEntry(
    section,
    name,
    given({ ...BODIES[section](before), ...changesOf(changes) }),
  );
  return sectionOf(
    section,
    entries.map((one) => (one === before ? after : one)),
  );
}

/** A group without members goes, from the setups that name it, too. Throws ChangeFault. */
export function withoutGroup(
  contents: RegistryContents,
  name: string,
): Pick<RegistryContents, 'groups' | 'setups'> {
  const group = contents.groups.find((one) => one.name === name);
  if (!group) throw new ChangeFault('no-group', `there is no group ${name}`);
  const { length } = group.members;
  if (length > 0) {
    throw new ChangeFault('conflict', `${name} has ${length} member(s): take them out first`);
  }
  // a setup without a list is open to all groups
  const only = contents.setups.find(({ groups }) => groups?.length === 1 && groups[0] === name);
  if (only) {
    const text = `${name} is the only group of the setup ${only.name}: change that first (gridgate registry load)`;
    throw new ChangeFault('conflict', text);
  }
  return {
    groups: contents.groups.filter((one) => one !== group),
    setups: contents.setups.map((setup) =>
      setup.groups?.includes(name)
        ? { ...setup, groups: setup.groups.filter((one) => one !== name) }
        : setup,
    ),
  };
}

/** A site goes. Throws ChangeFault. */
export function withoutSite(
  { sites }: RegistryContents,
  name: string,
): Pick<RegistryContents, 'sites'> {
  const left = sites.filter((site) => site.name !== name);
  if (left.length === sites.length) throw new ChangeFault('no-site', `there is no site ${name}`);
  return { sites: left };
}

function changesOf(changes: object): object {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

function given(body: object): object {
  const isGiven = ([, value]: [string, unknown]): boolean => value !== undefined && value !== null;
  return Object.fromEntries(Object.entries(body).filter(isGiven));
}

function sectionOf<S extends EntrySection>(
  section: S,
  entries: readonly RegistryContents[S][number][],
): Pick<RegistryContents, S> {
  return { [section]: entries } as unknown as Pick<RegistryContents, S>;
}

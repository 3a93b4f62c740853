import { Inject, Injectable } from '@nestjs/common';
import { randomId, type Clock, CLOCK } from '#src/kernel/index.js';
import { Audit, type AuditOrigin } from '#src/audit/index.js';
import { Database, lockInTransaction, type Queryable } from '#src/database/index.js';
import { DEMO_REGISTRY } from '../model/demo-registry.js';
import {
  describeDifference,
  difference,
  type RegistryDifference,
} from '../model/registry-difference.js';
import { parseRegistryFile, RegistryFileError } from './registry-file.js';
import { linesOf } from './yaml-file.js';
import { writeRegistryFile } from './registry-writing.js';
import { endedMemberships } from '../model/membership.js';
import { faultsOf, type RegistryFault } from '../model/registry-rules.js';
import { RegistryRepository } from '../store/registry.repository.js';
import { RegistryService } from '../store/registry.service.js';
import type { Client, RegistryContents, User } from '../model/registry.types.js';

/** Loads and dumps the registry as one YAML file. */
@Injectable()
export class RegistryLoader {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
    private readonly repository: RegistryRepository,
    private readonly registry: RegistryService,
    private readonly audit: Audit,
  ) {}

  /**
   * Makes the registry what the file says, in one transaction, and answers what that changed. Sections that are
   * not in the file stay as they are, and so do applications that a command added. Who is disabled stays so, and
   * stays in the registry, unless the file says `disabled: false`. Loading the same file again changes nothing. Throws
   * RegistryFileError with every fault and its place; then nothing has changed.
   */
  async load(text: string): Promise<RegistryDifference> {
    const parsed = parseRegistryFile(text);
    return withLines(
      text,
      this.write((before) => keepDisabled(before, parsed)),
    );
  }

  /**
   * The start with a registry file (GRID_REGISTRY): where the file rules it is loaded, else only into a registry
   * without users and groups. Answers as lines what that changed, or why the file says something else than the
   * registry. Throws what reading throws, and RegistryFileError, for a file that is to be loaded.
   */
  async loadAtStart(
    read: () => Promise<string>,
  ): Promise<{ changes: string[]; differs: string[] }> {
    const fileRules = await this.repository.fileRules();
    if (fileRules || isEmpty((await this.repository.read()).contents)) {
      const text = await read();
      const parsed = parseRegistryFile(text);
      // Another instance may have filled it meanwhile, and somebody changed it.
      const write = this.write((before) =>
        fileRules || isEmpty(before) ? keepDisabled(before, parsed) : {},
      );
      const loaded = await withLines(text, write);
      return { changes: describeDifference(loaded), differs: [] };
    }
    try {
      return { changes: [], differs: describeDifference(await this.check(await read())) };
    } catch (error) {
      return { changes: [], differs: (error as Error).message.split('\n') };
    }
  }

  /** From now on the file of GRID_REGISTRY rules, or it does not. */
  letFileRule(rules: boolean): Promise<void> {
    return this.repository.letFileRule(rules);
  }

  /** What `load` would change, without changing it. Throws RegistryFileError like `load`. */
  async check(text: string): Promise<RegistryDifference> {
    const parsed = parseRegistryFile(text);
    const before = (await this.repository.read()).contents;
    const after = merge(before, keepDisabled(before, parsed));
    await withLines(text, this.refuseFaults(after, this.database));
    return difference(before, after);
  }

  /** The registry as YAML text; loading it changes nothing. Secrets are in it as hashes only. */
  async dump(): Promise<string> {
    return writeRegistryFile((await this.repository.read()).contents);
  }

  /** Loads the demo registry when the registry is empty. */
  async loadDemo(): Promise<void> {
    await this.write((before) => (isEmpty(before) ? DEMO_REGISTRY : {}));
  }

  /** Makes the given sections hold these contents; the rules are those of `load`. */
  replace(sections: Partial<RegistryContents>): Promise<RegistryDifference> {
    return this.write(() => sections);
  }

  /**
   * Changes sections in one transaction: nobody's change in between is lost. What `sectionsOf` throws, RegistryFileError, and
   * Problem 409 where a file rules, leave everything as it is.
   */
  change(
    sectionsOf: (before: RegistryContents) => Partial<RegistryContents>,
    origin: AuditOrigin = {},
  ): Promise<RegistryDifference> {
    return this.write(sectionsOf, origin, (transaction) =>
      this.repository.refuseWhereFileRules(transaction),
    );
  }

  private async write(
    sectionsOf: (before: RegistryContents) => Partial<RegistryContents>,
    origin: AuditOrigin = {},
    refuse?: (transaction: Queryable) => Promise<void>,
  ): Promise<RegistryDifference> {
    const found = await this.database.transaction(async (transaction) => {
      await lockInTransaction(transaction, 'registry');
      await refuse?.(transaction);
      const before = (await this.repository.read(transaction)).contents;
      const after = merge(before, sectionsOf(before));
      await this.refuseFaults(after, transaction);
      const changes = difference(before, after);
      if (changes.changes.length > 0) {
        await this.repository.write(transaction, after);
        const leftAt = new Date(this.clock.now());
        await this.repository.noteDepartures(transaction, endedMemberships(before, after), leftAt);
      }
      return changes;
    });
    this.registry.forget();
    if (found.changes.length > 0) {
      this.audit.done('registry.changed', { changes: describeDifference(found) }, origin);
    }
    return found;
  }

  private async refuseFaults(contents: RegistryContents, queryable: Queryable): Promise<void> {
    const faults = [...faultsOf(contents), ...(await this.reusedSubjects(contents, queryable))];
    if (faults.length > 0) throw new RegistryFileError(faults);
  }

  /** A subject stays with its user for life, also when the user has gone. */
  private async reusedSubjects(
    { users }: RegistryContents,
    queryable: Queryable,
  ): Promise<RegistryFault[]> {
    const subs = users.flatMap(({ sub }) => sub ?? []);
    const owners = await this.repository.knownSubjects(queryable, subs);
    return users.flatMap(({ name, sub = '' }) => {
      const owner = owners.get(sub) ?? name;
      const problem = `was the subject of ${owner} and is never given to another`;
      return owner === name ? [] : [{ path: ['users', name, 'sub'], problem }];
    });
  }
}

/** Faults that only show when the file is seen with the rest of the registry get the lines of the file. */
async function withLines<T>(text: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof RegistryFileError
      ? new RegistryFileError(error.faults, linesOf(text))
      : error;
  }
}

function isEmpty({ users, groups }: RegistryContents): boolean {
  return users.length === 0 && groups.length === 0;
}

/**
 * A file that says nothing of somebody who is disabled does not bring them back, nor does a file without them and one
 * with them after it, nor their certificate under another name: only `disabled: false` and `user enable` do.
 */
function keepDisabled(
  before: RegistryContents,
  file: Partial<RegistryContents>,
): Partial<RegistryContents> {
  if (!file.users) return file;
  const disabled = new Map(
    before.users.filter((one) => one.disabled).map((one) => [one.name, one]),
  );
  const users = file.users.map((user) => ({
    ...user,
    disabled: user.disabled ?? disabled.has(user.name),
  }));
  for (const { name } of users) disabled.delete(name);
  return { ...file, users: [...users, ...disabled.values()] };
}

function merge(before: RegistryContents, sections: Partial<RegistryContents>): RegistryContents {
  const applications = sections.applications
    ? mergeApplications(before.applications, sections.applications)
    : before.applications;
  const users = mergeUsers(before.users, sections.users ?? before.users);
  const merged = { ...before, ...sections, users, applications };
  if (sections.shares !== undefined) return merged;
  // A file that says nothing of shares cannot be asked to mend those of the groups that it removes.
  const groups = new Set(merged.groups.map(({ name }) => name));
  return { ...merged, shares: before.shares.filter(({ name }) => groups.has(name)) };
}

/** Who is known keeps the subject, unless the file says another; who is new gets one. */
function mergeUsers(before: readonly User[], file: readonly User[]): User[] {
  const known = new Map(before.map(({ name, sub }) => [name, sub]));
  return file.map(({ disabled = false, ...user }) => ({
    ...user,
    sub: user.sub ?? known.get(user.name) ?? randomId(),
    ...(disabled && { disabled }),
  }));
}

function mergeApplications(before: readonly Client[], file: readonly Client[]): Client[] {
  const known = new Map(before.map((client) => [client.id, client]));
  const named = new Set(file.map((client) => client.id));
  const merged = file.map((client) => {
    const old = known.get(client.id);
    if (!old) return client;
    const hasSecret = client.confidential && client.authentication === undefined;
    const secretHash = client.secretHash ?? (hasSecret ? old.secretHash : undefined);
    return { ...client, origin: old.origin, ...(secretHash && { secretHash }) };
  });
  const kept = before.filter(({ id, origin }) => origin === 'command' && !named.has(id));
  return [...merged, ...kept];
}

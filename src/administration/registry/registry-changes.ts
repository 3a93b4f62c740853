import { Injectable } from '@nestjs/common';
import { Problem, type ProblemCode } from '#src/kernel/index.js';
import type { AuditOrigin } from '#src/audit/index.js';
import {
  ChangeFault,
  describeDifference,
  keepAdministrator,
  RegistryFileError,
  RegistryLoader,
  RegistryService,
  type ChangeReason,
  type RegistryContents,
} from '#src/registry/index.js';
import type { RegistryChangeResponse } from './registry-change.response.js';

/** Sections after a change of them. Throws ChangeFault, and RegistryFileError for faults of form. */
type Change = (contents: RegistryContents) => Partial<RegistryContents>;

const CODES: Record<ChangeReason, ProblemCode> = {
  'no-user': 'user.not-found',
  'no-group': 'group.not-found',
  'no-site': 'site.not-found',
  'no-member': 'group.no-such-member',
  'user-exists': 'user.exists',
  'group-exists': 'group.exists',
  'site-exists': 'site.exists',
  conflict: 'registry.conflict',
  'last-administrator': 'group.last-administrator',
};

/** Changes of the registry that administrators ask for, each in one transaction. */
@Injectable()
export class RegistryChanges {
  constructor(
    private readonly registry: RegistryService,
    private readonly loader: RegistryLoader,
  ) {}

  /**
   * Throws Problem 400 for faults of form, 404, and 409 for what the registry does not allow. The last administrator is looked for
   * in what the change finds, whatever others have changed meanwhile.
   */
  async make(change: Change, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    const registry = await this.registry.current();
    try {
      const found = await this.loader.change((contents) => {
        const changed = formed(() => change(contents));
        const after = { ...contents, ...changed };
        keepAdministrator(contents, after, (group) => registry.isOfIssuer(group));
        return changed;
      }, origin);
      return { changes: describeDifference(found) };
    } catch (error) {
      throw problemOf(error);
    }
  }
}

/** What is wrong with the body alone is 400, with the path in it. */
function formed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RegistryFileError)) throw error;
    const violations = error.faults.map(({ path: [, , ...path], problem }) => ({
      field: fieldOf(path),
      problem,
    }));
    throw Problem.invalid(violations);
  }
}

function fieldOf(path: (string | number)[]): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text.replace(/^\./, '') || 'name';
}

function problemOf(error: unknown): unknown {
  if (error instanceof RegistryFileError) {
    const faults = error.message.replaceAll('\n', '; ');
    return new Problem('registry.conflict', `The registry does not allow it: ${faults}`);
  }
  if (!(error instanceof ChangeFault)) return error;
  return new Problem(CODES[error.reason], error.message.replace(/^there/, 'There'));
}

import { Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import type { Tell } from '#src/events/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import type { LoggedChange } from '../events/logged-change.js';
import { catalogueSelector } from './catalogue-selector.js';
import { PresentRights } from './present-rights.service.js';

/** What may be told of changes, and to whom. */
@Injectable()
export class CatalogueTeller {
  constructor(
    private readonly policy: CataloguePolicy,
    private readonly rights: PresentRights,
  ) {}

  /** What of these changes, which are in order, the caller may be told at or below the prefix, as things stand now. */
  async tellOf(
    caller: Principal,
    prefix: string,
    changes: readonly LoggedChange[],
  ): Promise<Tell<LoggedChange>> {
    const { policy } = this;
    const actor = await policy.readerOf(caller);
    const places = changes
      .flatMap(({ place, before }) => [place.path, ...(before ? [before.path] : [])])
      .filter((path) => policy.reach(actor, path) === 'bits');
    const present = await this.rights.of(places, changes.at(-1)?.position ?? 0);
    const select = catalogueSelector(prefix, { actor, policy, token: caller, present });
    return (change) => {
      const told = select(change);
      return told && { event: change.kind, data: JSON.stringify(told) };
    };
  }
}

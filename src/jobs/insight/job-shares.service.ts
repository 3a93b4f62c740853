import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { RegistryService } from '#src/registry/index.js';
import { countedGroups } from '../access/counted-groups.js';
import { JobPolicy } from '../access/job.policy.js';
import { ShareReport, type GroupShare, type OwnerShare } from '../matching/share-report.js';
import type { JobSharesQuery } from './job-shares.query.js';
import type { JobGroupShare, JobOwnerShare, JobSharesResponse } from './job-shares.response.js';

/** Tells callers what they may know of the shares of groups and owners: of whose jobs they may see the records. */
@Injectable()
export class JobSharesService {
  constructor(
    private readonly report: ShareReport,
    private readonly registry: RegistryService,
    private readonly policy: JobPolicy,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Groups that have used something lately or wait. */
  async show(principal: Principal, { group }: JobSharesQuery): Promise<JobSharesResponse> {
    const { shareHalfLife: halfLife } = this.config;
    const registry = await this.registry.current();
    const border = this.policy.borderOf(principal);
    const all = await this.report.read(countedGroups(registry, border));
    const wanted = (all ?? []).filter((one) => group === undefined || one.group === group);
    const groups = wanted.flatMap((one) => {
      const vo = registry.group(one.group)?.vo ?? '';
      const shown = this.shown(principal, one, vo);
      return shown ? [shown] : [];
    });
    return { shared: all !== undefined, halfLife, groups };
  }

  private shown(
    principal: Principal,
    { group, weight, owners, ...share }: GroupShare,
    vo: string,
  ): JobGroupShare | undefined {
    const { setup } = principal;
    const sees = (owner: string): boolean =>
      this.policy.mayRead(principal, { owner, ownerGroup: group, setup, vo });
    const shown = owners.filter(({ owner }) => sees(owner)).map(ownerShare);
    const isOwn = principal.group === group;
    if (!isOwn && shown.length === 0) return undefined;
    return { group, weight, ...figures(share), owners: shown };
  }
}

function ownerShare({ owner, ...share }: OwnerShare): JobOwnerShare {
  return { owner, ...figures(share) };
}

function figures({
  used,
  due,
  seconds,
  held,
  isWaiting,
}: Omit<OwnerShare, 'owner'>): Omit<JobOwnerShare, 'owner'> {
  return { used, due, seconds, held, waiting: isWaiting };
}

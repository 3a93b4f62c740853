import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#src/config/index.js';
import { WorkersService, type WorkerReport } from '#src/jobs/index.js';
import type { ListWorkersQuery } from './worker.query.js';

/** Pages of the list of workers. */
@Injectable()
export class WorkerPages {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'publicUrl'>,
    private readonly workers: WorkersService,
  ) {}

  /** GET /admin/workers, and where the next page is. */
  async page(query: ListWorkersQuery): Promise<{ workers: WorkerReport[]; next?: string }> {
    const { site, after, limit } = query;
    const workers = await this.workers.list({ site, after, limit });
    const last = workers.at(-1);
    if (!last || workers.length < limit) return { workers };
    const next = new URLSearchParams({ ...(site && { site }), limit: `${limit}`, after: last.id });
    const base = this.config.publicUrl.replace(/\/$/, '');
    return { workers, next: `${base}/admin/workers?${next.toString()}` };
  }
}

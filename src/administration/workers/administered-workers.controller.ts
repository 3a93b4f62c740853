import { Controller, Delete, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access } from '#src/auth/index.js';
import type { AuditDetails } from '#src/audit/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { WorkersService } from '#src/jobs/index.js';
import { WorkerId } from '../answer/administration.openapi.js';
import { AuditedRefusal } from '../answer/refused.decorator.js';
import { ListWorkersQuery } from './worker.query.js';
import { WorkerPages } from './worker-pages.js';
import { WorkerListResponse, WorkerResponse } from './worker.response.js';

const named = ({ worker }: Record<string, string>): AuditDetails => ({ worker });

/** Programs that run jobs of sites, for administrators. */
@ApiTags('administration')
@Controller('admin/workers')
export class AdministeredWorkersController {
  constructor(
    private readonly workers: WorkersService,
    private readonly pages: WorkerPages,
  ) {}

  /**
   * List workers, by id.
   *
   * @remarks Those that are there and those that went within the last day; page by page with `limit` and `after`.
   */
  @Get()
  @Access('bearer', 'admin')
  async listWorkers(
    @Query() query: ListWorkersQuery,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<WorkerListResponse> {
    const { next, ...page } = await this.pages.page(query);
    if (next !== undefined) response.setHeader('Link', `<${next}>; rel="next"`);
    return page;
  }

  /**
   * Give a worker no more jobs; what it runs goes on.
   *
   * @remarks It stays drained until it has ended and registers again.
   * @throws {404} Unknown, or gone
   */
  @Post(':worker/drain')
  @HttpCode(200)
  @Access('bearer', 'admin')
  @AuditedRefusal('worker.drained', named)
  async drainWorker(@WorkerId() id: string, @Req() request: HttpRequest): Promise<WorkerResponse> {
    return this.workers.drain(id, { request });
  }

  /**
   * Remove a worker: its id and tokens open nothing from now on.
   *
   * @remarks It does not come back with a secret that was for it alone. One that is for many workers is revoked by `gridgate site secret revoke`.
   * @throws {404} Unknown, or gone already
   */
  @Delete(':worker')
  @HttpCode(204)
  @Access('bearer', 'admin')
  @AuditedRefusal('worker.removed', named)
  async removeWorker(@WorkerId() id: string, @Req() request: HttpRequest): Promise<void> {
    await this.workers.remove(id, { request });
  }
}

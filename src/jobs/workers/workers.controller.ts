import { Body, Controller, Delete, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Access } from '#src/auth/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { WorkerEnrolment } from './worker-enrolment.js';
import type { WorkerEntity } from './worker.entity.js';
import { RegisterWorkerRequest, WorkerWordsRequest } from './worker.request.js';
import type {
  RegisteredWorkerAnswer,
  WorkerTokenAnswer,
  WorkerWordsAnswer,
} from './worker.response.js';
import { CurrentWorker, WorkerRoute } from './worker-route.decorator.js';

/** Who is a worker: between the service and its workers, and no part of the interface. */
@ApiExcludeController()
@Controller('workers')
export class WorkersController {
  constructor(private readonly enrolment: WorkerEnrolment) {}

  /** The holder of a key becomes a worker of a site (201), or is one (200). */
  @Post()
  @Access('open')
  async register(
    @Body() body: RegisterWorkerRequest,
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<RegisteredWorkerAnswer> {
    const { isNew, answer } = await this.enrolment.register(body, request);
    response.status(isNew ? 201 : 200);
    return answer;
  }

  /** The holder of a worker's key gets another token. */
  @Post(':id/token')
  @HttpCode(200)
  @Access('open')
  async renew(@Param('id') id: string, @Req() request: HttpRequest): Promise<WorkerTokenAnswer> {
    return this.enrolment.renew(id, request);
  }

  /** A worker that was started again says what it is now. */
  @Put(':id')
  @WorkerRoute()
  async tell(
    @CurrentWorker() worker: WorkerEntity,
    @Body() body: WorkerWordsRequest,
  ): Promise<WorkerWordsAnswer> {
    return this.enrolment.keepWords(worker, body);
  }

  /** The worker ends. */
  @Delete(':id')
  @HttpCode(204)
  @WorkerRoute()
  async leave(@CurrentWorker() worker: WorkerEntity, @Req() request: HttpRequest): Promise<void> {
    await this.enrolment.leave(worker, request);
  }
}

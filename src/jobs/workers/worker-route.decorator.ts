import {
  applyDecorators,
  createParamDecorator,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { Access, workerIdOf } from '#src/auth/index.js';
import { isOfOwnWorker, type HttpRequest } from '#src/http/index.js';
import { isOwn, noSuchWorker } from './worker.js';
import type { WorkerEntity } from './worker.entity.js';
import { WorkersRepository } from './workers.repository.js';

const WORKER = Symbol('worker');

/**
 * A route `…/:id…` of one worker: it is opened by the token of that worker with a proof of its key, and nobody else's. 404 for the id
 * of another one, and for a worker that is gone. Not in the OpenAPI document: only workers call it.
 */
export function WorkerRoute(): MethodDecorator {
  return applyDecorators(Access('worker'), UseGuards(OwnWorkerGuard), ApiExcludeEndpoint());
}

/** Handler parameter: the row of the worker that calls, as it was when the request came; on routes with `@WorkerRoute()` only. */
export const CurrentWorker = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const worker = context.switchToHttp().getRequest<{ [WORKER]?: WorkerEntity }>()[WORKER];
  if (!worker) throw new Error('the route is none of workers');
  return worker;
});

/** Does what `@WorkerRoute` says. */
@Injectable()
class OwnWorkerGuard implements CanActivate {
  constructor(private readonly workers: WorkersRepository) {}

  /** Throws Problem 404. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest & { [WORKER]?: WorkerEntity }>();
    const id = String(request.params['id']);
    const worker = workerIdOf(request) === id ? await this.workers.find(id) : undefined;
    if (!worker || isOwn(worker) !== isOfOwnWorker(request)) throw noSuchWorker(id);
    request[WORKER] = worker;
    return true;
  }
}

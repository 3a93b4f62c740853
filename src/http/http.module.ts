import { Global, Module } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { Admission } from './admission.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { ProblemFilter } from './problem.filter.js';
import { RequestPipe } from './request.pipe.js';
import { RouteTable } from './route-table.js';

const SHARED = [Admission, ProblemFilter, RouteTable];

/** What HTTP gives to the modules with routes, its probes and metrics, and the pipe of all queries and bodies. */
@Global()
@Module({
  controllers: [HealthController, MetricsController],
  providers: [...SHARED, { provide: APP_PIPE, useClass: RequestPipe }],
  exports: SHARED,
})
export class HttpModule {}

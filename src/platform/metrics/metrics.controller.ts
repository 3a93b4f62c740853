import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '../config/env.js';
import type { HttpResponse } from '../http/messages.js';
import { OpenRoute } from '../http/open-route.js';
import { Metrics } from './metrics.js';

/** GET /metrics: Prometheus' text format; not here when metrics have a listener of their own. */
@ApiExcludeController()
@OpenRoute()
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async read(@Res() response: HttpResponse): Promise<void> {
    if (this.config.metricsPort !== 0) {
      throw new Problem('route.not-found', 'There is nothing at this address');
    }
    const { text, contentType } = await this.metrics.render();
    response.setHeader('Content-Type', contentType);
    response.end(text);
  }
}

import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { HttpRequest, HttpResponse } from './messages.js';
import { OpenRoute } from './open-route.js';
import { Metrics } from '#src/runtime/index.js';

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
  async read(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    // Load balancers hide this path, and know it in one spelling only: /METRICS, /metrics/ and /%6detrics are none.
    const isExact = request.originalUrl.split('?')[0] === '/metrics';
    if (this.config.metricsPort !== 0 || !isExact) {
      throw new Problem('route.not-found', 'There is nothing at this address');
    }
    const { text, contentType } = await this.metrics.render();
    response.setHeader('Content-Type', contentType);
    response.end(text);
  }
}

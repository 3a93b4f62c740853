import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { HttpResponse } from '../http/messages.js';
import { OpenRoute } from '../http/open-route.js';
import { Metrics } from './metrics.js';

/** GET /metrics: Prometheus' text format. */
@ApiExcludeController()
@OpenRoute()
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  async read(@Res() response: HttpResponse): Promise<void> {
    const { text, contentType } = await this.metrics.render();
    response.setHeader('Content-Type', contentType);
    response.end(text);
  }
}

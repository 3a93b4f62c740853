import { Controller, Get, Res } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import { stringifyJson } from '#src/kernel/index.js';
import type { HttpResponse } from './messages.js';
import { OpenRoute } from './open-route.js';
import { Readiness } from '#src/runtime/index.js';

/** Answer of the liveness probe. */
export class LiveResponse {
  @ApiProperty({ example: 'live' })
  status!: string;
}

/** Answer of the readiness probe: the state of each part this instance needs. */
class ReadyResponse {
  @ApiProperty({
    enum: ['ready', 'degraded', 'not ready'],
    example: 'ready',
    description: '`degraded`: it answers, but cannot write files',
  })
  status!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { database: 'ok', migrations: 'ok', signingKey: 'ok', home: 'ok', sandboxes: 'ok' },
  })
  checks!: Record<string, string>;
}

/** Probes for load balancers and orchestrators. */
@OpenRoute()
@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /**
   * Is the process alive?
   *
   * @remarks Does not look at the database.
   */
  @Get('live')
  @ApiResponse({ status: 200, type: LiveResponse })
  healthLive(): LiveResponse {
    return { status: 'live' };
  }

  /**
   * May this instance be sent requests?
   *
   * @remarks 200 when database, schema and signing key are there; `degraded` when files cannot be written.
   */
  @Get('ready')
  @ApiResponse({ status: 200, type: ReadyResponse })
  @ApiResponse({ status: 503, type: ReadyResponse, description: 'Not ready; the checks say why' })
  async healthReady(@Res() response: HttpResponse): Promise<void> {
    const body: ReadyResponse = await this.readiness.report();
    const isReady = body.status !== 'not ready';
    response.statusCode = isReady ? 200 : 503;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    if (!isReady) response.setHeader('Retry-After', '2');
    response.end(stringifyJson(body));
  }
}

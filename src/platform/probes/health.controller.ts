import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import { stringifyJson } from '#src/kernel/index.js';
import type { HttpResponse } from '../http/messages.js';
import { OpenRoute } from '../http/open-route.js';
import { Readiness } from '../observe/health/readiness.js';

/** Answer of the liveness probe. */
export class LiveResponse {
  @ApiProperty({ example: 'live' })
  status!: string;
}

/** Answer of the readiness probe: the state of each part this instance needs. */
class ReadyResponse {
  @ApiProperty({ enum: ['ready', 'not ready'], example: 'ready' })
  status!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { database: 'ok', migrations: 'ok', signingKey: 'ok' },
  })
  checks!: Record<string, string>;
}

/** Probes for load balancers and orchestrators. */
@ApiTags('health')
@OpenRoute()
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @ApiOperation({ operationId: 'healthLive', summary: 'Is the process alive?' })
  @ApiResponse({ status: 200, type: LiveResponse })
  live(): LiveResponse {
    return { status: 'live' };
  }

  @Get('ready')
  @ApiOperation({ operationId: 'healthReady', summary: 'May this instance be sent requests?' })
  @ApiResponse({ status: 200, type: ReadyResponse })
  @ApiResponse({ status: 503, type: ReadyResponse, description: 'Not ready; the checks say why' })
  async ready(@Res() response: HttpResponse): Promise<void> {
    const { ready, checks } = await this.readiness.report();
    const body: ReadyResponse = { status: ready ? 'ready' : 'not ready', checks };
    response.statusCode = ready ? 200 : 503;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    if (!ready) response.setHeader('Retry-After', '2');
    response.end(stringifyJson(body));
  }
}

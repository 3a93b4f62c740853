import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import {
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiParam,
  ApiProduces,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { SandboxFilesResponse } from './sandbox.response.js';
import { JobSandboxesService } from './job-sandboxes.service.js';

const BYTES = { schema: { type: 'string', format: 'binary' } } as const;

/** The two sandboxes of a job: whole archives, and single files of them. */
@ApiForbiddenResponse({ description: 'Not yours to read' })
@ApiNotFoundResponse({ description: 'Unknown, not visible, or there is no such sandbox or file' })
@Controller('jobs/:jid')
export class JobSandboxesController {
  constructor(private readonly sandboxes: JobSandboxesService) {}

  /**
   * The input sandbox as tar.gz.
   *
   * @remarks The files that the job was submitted with.
   */
  @Get('inputsandbox')
  @Access('bearer', 'jobs:read')
  @ApiProduces('application/gzip')
  @ApiOkResponse(BYTES)
  async getInputSandbox(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.sandboxes.download({ principal, request, response }, jid, 'inputsandbox');
  }

  /**
   * The output sandbox as tar.gz.
   *
   * @remarks What the job has written.
   */
  @Get('outputsandbox')
  @Access('bearer', 'jobs:read')
  @ApiProduces('application/gzip')
  @ApiOkResponse(BYTES)
  async getOutputSandbox(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.sandboxes.download({ principal, request, response }, jid, 'outputsandbox');
  }

  /** Files of the input sandbox. */
  @Get('inputsandbox/files')
  @Access('bearer', 'jobs:read')
  async listInputSandbox(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<SandboxFilesResponse> {
    return this.sandboxes.files(principal, jid, 'inputsandbox');
  }

  /** Files of the output sandbox. */
  @Get('outputsandbox/files')
  @Access('bearer', 'jobs:read')
  async listOutputSandbox(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<SandboxFilesResponse> {
    return this.sandboxes.files(principal, jid, 'outputsandbox');
  }

  /** One file of the input sandbox. */
  @Get('inputsandbox/files/*name')
  @Access('bearer', 'jobs:read')
  @ApiParam({
    name: 'name',
    description: 'Its name',
    schema: { type: 'string', example: 'input.txt' },
  })
  @ApiProduces('application/octet-stream')
  @ApiOkResponse(BYTES)
  async readInputSandboxFile(
    @CurrentPrincipal() principal: Principal,
    @Param() path: { jid: string; name: string | string[] },
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const caller = { principal, request, response };
    await this.sandboxes.downloadFile(caller, path.jid, 'inputsandbox', nameOf(path.name));
  }

  /** One file of the output sandbox. */
  @Get('outputsandbox/files/*name')
  @Access('bearer', 'jobs:read')
  @ApiProduces('application/octet-stream')
  @ApiOkResponse(BYTES)
  async readOutputSandboxFile(
    @CurrentPrincipal() principal: Principal,
    @Param() path: { jid: string; name: string | string[] },
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const caller = { principal, request, response };
    await this.sandboxes.downloadFile(caller, path.jid, 'outputsandbox', nameOf(path.name));
  }
}

/** The router gives the rest of a path in pieces; file names in directories of the sandbox have several. */
function nameOf(parts: string | string[]): string {
  return Array.isArray(parts) ? parts.join('/') : parts;
}

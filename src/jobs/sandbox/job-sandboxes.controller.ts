import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import {
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpRequest, HttpResponse } from '#src/platform/index.js';
import { JID_PARAM } from '../state/job.openapi.js';
import { SandboxFilesResponse } from './sandbox.response.js';
import { JobSandboxesService } from './job-sandboxes.service.js';

const BYTES = { schema: { type: 'string', format: 'binary' } } as const;

/** The two sandboxes of a job: whole archives, and single files of them. */
@ApiTags('sandboxes')
@ApiParam(JID_PARAM)
@ApiForbiddenResponse({ description: 'Not yours to read' })
@ApiNotFoundResponse({ description: 'Unknown, not visible, or there is no such sandbox or file' })
@Controller('jobs/:jid')
export class JobSandboxesController {
  constructor(private readonly sandboxes: JobSandboxesService) {}

  /** The files that the job was submitted with, as tar.gz. */
  @Get('inputsandbox')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'getInputSandbox', summary: 'The input sandbox as tar.gz' })
  @ApiProduces('application/gzip')
  @ApiOkResponse(BYTES)
  async input(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.sandboxes.download({ principal, request, response }, jid, 'inputsandbox');
  }

  /** What the job has written, as tar.gz. */
  @Get('outputsandbox')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'getOutputSandbox', summary: 'The output sandbox as tar.gz' })
  @ApiProduces('application/gzip')
  @ApiOkResponse(BYTES)
  async output(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.sandboxes.download({ principal, request, response }, jid, 'outputsandbox');
  }

  /** Names and sizes of the files in the input sandbox. */
  @Get('inputsandbox/files')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'listInputSandbox', summary: 'Files of the input sandbox' })
  @ApiOkResponse({ type: SandboxFilesResponse })
  async inputFiles(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<SandboxFilesResponse> {
    return this.sandboxes.files(principal, jid, 'inputsandbox');
  }

  /** Names and sizes of the files in the output sandbox. */
  @Get('outputsandbox/files')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'listOutputSandbox', summary: 'Files of the output sandbox' })
  @ApiOkResponse({ type: SandboxFilesResponse })
  async outputFiles(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<SandboxFilesResponse> {
    return this.sandboxes.files(principal, jid, 'outputsandbox');
  }

  /** One file of the input sandbox; byte ranges are honoured. */
  @Get('inputsandbox/files/*name')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'readInputSandboxFile', summary: 'One file of the input sandbox' })
  @ApiParam(JID_PARAM)
  @ApiParam({
    name: 'name',
    description: 'Its name',
    schema: { type: 'string', example: 'input.txt' },
  })
  @ApiProduces('application/octet-stream')
  @ApiOkResponse(BYTES)
  async inputFile(
    @CurrentPrincipal() principal: Principal,
    @Param() path: { jid: string; name: string | string[] },
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const caller = { principal, request, response };
    await this.sandboxes.downloadFile(caller, path.jid, 'inputsandbox', nameOf(path.name));
  }

  /** One file of the output sandbox; byte ranges are honoured. */
  @Get('outputsandbox/files/*name')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'readOutputSandboxFile', summary: 'One file of the output sandbox' })
  @ApiParam(JID_PARAM)
  @ApiParam({
    name: 'name',
    description: 'Its name',
    schema: { type: 'string', example: 'std.out' },
  })
  @ApiProduces('application/octet-stream')
  @ApiOkResponse(BYTES)
  async outputFile(
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

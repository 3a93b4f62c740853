import { Controller, Get, Req, Res } from '@nestjs/common';
import {
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiTags,
  ApiTemporaryRedirectResponse,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Download, type HttpRequest, type HttpResponse } from '#src/http/index.js';
import { SandboxFilesResponse } from './sandbox.response.js';
import { JobSandboxesService } from './job-sandboxes.service.js';
import { InputFile, JobId, OutputFile, type JobFile } from '../state/job.openapi.js';

const PRESIGNED = { description: 'To the object store (GRID_S3_PRESIGN)' };

/** The two sandboxes of a job: whole archives, and single files of them. */
@ApiForbiddenResponse({ description: 'Not yours to read' })
@ApiNotFoundResponse({ description: 'Unknown, not visible, or there is no such sandbox or file' })
@ApiTags('sandboxes')
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
  @Download('application/gzip')
  @ApiTemporaryRedirectResponse(PRESIGNED)
  async getInputSandbox(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
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
  @Download('application/gzip')
  @ApiTemporaryRedirectResponse(PRESIGNED)
  async getOutputSandbox(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.sandboxes.download({ principal, request, response }, jid, 'outputsandbox');
  }

  /**
   * Files of the input sandbox.
   *
   * @remarks With sizes, as they lie in the archive.
   */
  @Get('inputsandbox/files')
  @Access('bearer', 'jobs:read')
  async listInputSandbox(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<SandboxFilesResponse> {
    return this.sandboxes.files(principal, jid, 'inputsandbox');
  }

  /**
   * Files of the output sandbox.
   *
   * @remarks With sizes, as they lie in the archive.
   */
  @Get('outputsandbox/files')
  @Access('bearer', 'jobs:read')
  async listOutputSandbox(
    @CurrentPrincipal() principal: Principal,
    @JobId() jid: string,
  ): Promise<SandboxFilesResponse> {
    return this.sandboxes.files(principal, jid, 'outputsandbox');
  }

  /**
   * One file of the input sandbox.
   *
   * @remarks Directories of its name are parts of the path. Byte ranges are honoured.
   */
  @Get('inputsandbox/files/*name')
  @Access('bearer', 'jobs:read')
  @Download('application/octet-stream')
  async readInputSandboxFile(
    @CurrentPrincipal() principal: Principal,
    @InputFile() file: JobFile,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const caller = { principal, request, response };
    await this.sandboxes.downloadFile(caller, file.jid, 'inputsandbox', file.name);
  }

  /**
   * One file of the output sandbox.
   *
   * @remarks Directories of its name are parts of the path. Byte ranges are honoured.
   */
  @Get('outputsandbox/files/*name')
  @Access('bearer', 'jobs:read')
  @Download('application/octet-stream')
  async readOutputSandboxFile(
    @CurrentPrincipal() principal: Principal,
    @OutputFile() file: JobFile,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const caller = { principal, request, response };
    await this.sandboxes.downloadFile(caller, file.jid, 'outputsandbox', file.name);
  }
}

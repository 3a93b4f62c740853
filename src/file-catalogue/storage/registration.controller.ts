import { Body, Controller, Put, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiForbiddenResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Audited } from '#src/audit/index.js';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpResponse } from '#src/http/index.js';
import { RegisterFileRequest } from '../changes/writes.request.js';
import { MadeResponse } from '../changes/writes.response.js';
import { auditedPath, FilePath } from '../path/encoded-path.decorator.js';
import { ArrivedFiles } from './arrived-files.service.js';

/** Files come to the catalogue, with bytes at storage elements or without. */
@ApiForbiddenResponse({ description: 'Not allowed in this directory' })
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class RegistrationController {
  constructor(private readonly files: ArrivedFiles) {}

  /**
   * Register a file; missing directories are made.
   *
   * @remarks The file itself is neither read nor moved. To register it again with the same content is answered with 200. Of a path that the caller holds
   * for bytes (`POST /filecatalogue/access`, `create`), the size and Adler32 at the storage element must be these (of S3 the MD5 that was said may be given, and must be for more than 1 GiB); its replica there needs
   * not be named.
   * @throws {409} Another content is registered, a directory has this path, it is being uploaded by somebody else or removed, or the bytes that were uploaded are others
   */
  @Put('file/:file')
  @Access('bearer', 'catalogue:write')
  @Audited<MadeResponse>('catalogue.file-registered', ({ params }, answer) => ({
    path: auditedPath(params['file']),
    ...(answer && { created: answer.created }),
  }))
  @ApiCreatedResponse({ type: MadeResponse })
  @ApiOkResponse({ type: MadeResponse, description: 'The same file was registered' })
  async registerFile(
    @FilePath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() body: RegisterFileRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<MadeResponse> {
    const created = await this.files.register(principal, path, body);
    response.status(created ? 201 : 200);
    return { path, created };
  }
}

import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiNotFoundResponse, ApiTags, ApiTemporaryRedirectResponse } from '@nestjs/swagger';
import { Audited, type AuditDetails } from '#src/audit/index.js';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Download, type HttpRequest, type HttpResponse } from '#src/http/index.js';
import { decodeFilePath } from '../path/catalogue-path.js';
import { FilePath } from '../path/encoded-path.decorator.js';
import { ContentQuery } from './content.query.js';
import { StorageContent } from './content.service.js';

/** The bytes of a file. */
@ApiNotFoundResponse({ description: 'The file does not exist, or may not be seen' })
@ApiTags('file catalogue')
@Controller('filecatalogue/file/:file')
export class ContentController {
  constructor(private readonly content: StorageContent) {}

  /**
   * The bytes of a file, from the first storage element with an address that has them.
   *
   * @remarks What lies in S3 is redirected to a signed address, which opens it for five minutes, unless `through` is asked for. An answer whose connection is cut is not whole.
   * @throws {409} No storage element with an address has the file, or what it has is of another size
   */
  @Get('content')
  @Access('bearer', 'catalogue:read')
  @Audited('catalogue.content-given', detailsOf, { isRefusalsOnly: true })
  @Download('application/octet-stream')
  @ApiTemporaryRedirectResponse({ description: 'To a signed address of the file in S3' })
  async readFileContent(
    @FilePath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Query() { through }: ContentQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const caller = { principal, request: response.req, response };
    await this.content.answer(caller, path, through);
  }
}

function detailsOf({ params }: HttpRequest): AuditDetails {
  const decoded = decodeFilePath(String(params['file']));
  return 'path' in decoded ? decoded : {};
}

import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Audited } from '#src/audit/index.js';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { AccessRequest } from './access.request.js';
import { FileAccessResponse } from './access.response.js';
import { StorageAccess } from './storage-access.service.js';

/** So many are named in the audit trail. */
const AUDITED_PATHS = 20;

/** The bytes of files, at the storage elements that have them. */
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class AccessController {
  constructor(private readonly access: StorageAccess) {}

  /**
   * Addresses of files at storage elements, and what opens them there.
   *
   * @remarks All or nothing. Nothing outlives the token of the request. A token is for these very files at that storage, a signed address for one. A replica whose PFN is not the element's address
   * of a file that the caller may read is none here.
   * @throws {409} No storage element with an address has one of the files
   */
  @Post('access')
  @HttpCode(200)
  @Access('bearer', 'catalogue:read')
  @Audited<FileAccessResponse[]>('catalogue.access-given', (_request, answer = []) => ({
    files: answer.length,
    paths: answer.slice(0, AUDITED_PATHS).map(({ path }) => path),
    ses: [...new Set(answer.map(({ se }) => se))],
  }))
  @ApiNotFoundResponse({ description: 'One of the files does not exist, or may not be seen' })
  @ApiOkResponse({ type: [FileAccessResponse] })
  async accessFiles(
    @CurrentPrincipal() principal: Principal,
    @Body() body: AccessRequest,
  ): Promise<FileAccessResponse[]> {
    return this.access.toRead(principal, body);
  }
}

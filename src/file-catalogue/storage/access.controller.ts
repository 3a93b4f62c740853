import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Audited } from '#src/audit/index.js';
import { Access, CurrentPrincipal, scopeMissing, type Principal } from '#src/auth/index.js';
import { AccessRequest } from './access.request.js';
import { FileAccessResponse } from './access.response.js';
import { StorageAccess } from './storage-access.service.js';
import { StorageUploads } from './storage-uploads.service.js';

/** So many are named in the audit trail. */
const AUDITED_PATHS = 20;

/** The right is for the audit trail: the JSON of an array has nothing of it. */
type GivenAccess = FileAccessResponse[] & { right: string };

/** The bytes of files, at the storage elements that have them. */
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class AccessController {
  constructor(
    private readonly access: StorageAccess,
    private readonly uploads: StorageUploads,
  ) {}

  /**
   * Addresses of files at storage elements, and what opens them there.
   *
   * @remarks All or nothing. Nothing outlives the token of the request. A token is for these very files at that storage, a signed address for one. A replica whose PFN is not the element's address
   * of a file that the caller may read is none here. To `create` holds the paths, which nobody sees and nobody else can have, until `expires` and two
   * minutes more; when the bytes are there the file is registered (`PUT /filecatalogue/file/{file}`), otherwise they are removed, and the path is free
   * an hour later. Asked again for the same bytes, the answer has what opens them anew; `DELETE /filecatalogue/file/{file}` ends it.
   * @throws {409} No storage element with an address has one of the files, or takes it; one that is to be created exists, is being uploaded or removed, or something lies where it would be
   */
  @Post('access')
  @HttpCode(200)
  @Access('bearer', 'catalogue:read', 'catalogue:write')
  @Audited<GivenAccess>('catalogue.access-given', (_request, answer) => ({
    ...(answer && { right: answer.right }),
    files: answer?.length ?? 0,
    paths: (answer ?? []).slice(0, AUDITED_PATHS).map(({ path }) => path),
    ses: [...new Set((answer ?? []).map(({ se }) => se))],
  }))
  @ApiNotFoundResponse({ description: 'One of the files does not exist, or may not be seen' })
  @ApiOkResponse({ type: [FileAccessResponse] })
  async accessFiles(
    @CurrentPrincipal() principal: Principal,
    @Body() body: AccessRequest,
  ): Promise<GivenAccess> {
    const isRead = body.right === 'read';
    const scope = isRead ? 'catalogue:read' : 'catalogue:write';
    if (!principal.scopes.has(scope)) throw scopeMissing(scope);
    const files = isRead
      ? await this.access.toRead(principal, body)
      : await this.uploads.toCreate(principal, body);
    return Object.assign(files, { right: body.right });
  }
}

import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { AuditDetails } from '#src/audit/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { CreatedAt } from '../answer/created-at.decorator.js';
import { AuditedRefusal } from '../answer/refused.decorator.js';
import { RegistryChangeResponse } from '../registry/registry-change.response.js';
import { AddSiteRequest, ChangeSiteRequest, DrainSiteRequest } from './site.request.js';
import { SiteListResponse, SiteResponse } from './site.response.js';
import { SitesService } from './sites.service.js';
import { SiteName } from '../answer/administration.openapi.js';

const siteChange =
  (what: string) =>
  ({ site }: Record<string, string>): AuditDetails => ({ changes: [`~ sites.${site}: ${what}`] });

/** Sites and their drains, for administrators. */
@ApiTags('administration')
@Controller('admin/sites')
export class SitesController {
  constructor(private readonly sites: SitesService) {}

  /**
   * List sites, in the order of the registry.
   *
   * @remarks With drains and what keeps a site from taking jobs now.
   */
  @Get()
  @Access('bearer', 'admin')
  async listSites(): Promise<SiteListResponse> {
    return { sites: await this.sites.all() };
  }

  /**
   * A site with its drain.
   *
   * @remarks With what keeps it from taking jobs now.
   * @throws {404} Unknown
   */
  @Get(':site')
  @Access('bearer', 'admin')
  async getSite(@SiteName() site: string): Promise<SiteResponse> {
    return this.sites.get(site);
  }

  /**
   * Add a site.
   *
   * @remarks How a cluster of its own and the network are reached (`connection`, `network`) only the registry file and the command beside the service say.
   * @throws {409} The site is there already, or the registry does not allow it
   */
  @Post()
  @Access('bearer', 'admin')
  @CreatedAt('/admin/sites', SiteResponse)
  @AuditedRefusal('registry.changed', () => ({ changes: ['+ sites'] }))
  async addSite(@Body() body: AddSiteRequest, @Req() request: HttpRequest): Promise<SiteResponse> {
    return this.sites.add(body, { request });
  }

  /**
   * Change a site: what is left out stays, null takes away.
   *
   * @remarks Lists and objects are replaced as a whole.
   * @throws {404} Unknown
   * @throws {409} The registry does not allow it
   */
  @Patch(':site')
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', siteChange('change'))
  async changeSite(
    @SiteName() site: string,
    @Body() body: ChangeSiteRequest,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.sites.change(site, body, { request });
  }

  /**
   * Remove a site, with its drain; what runs there goes on to its end.
   *
   * @remarks Jobs that wait for it wait until they are killed, or a site of the name is there again.
   * @throws {404} Unknown
   */
  @Delete(':site')
  @HttpCode(204)
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', ({ site }) => ({ changes: [`- sites.${site}`] }))
  async removeSite(@SiteName() site: string, @Req() request: HttpRequest): Promise<void> {
    await this.sites.remove(site, { request });
  }

  /**
   * Give a site no new jobs; what runs there goes on.
   *
   * @remarks Owners of waiting jobs read the reason.
   * @throws {404} Unknown
   */
  @Post(':site/drain')
  @HttpCode(200)
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', siteChange('drain'))
  async drainSite(
    @CurrentPrincipal() principal: Principal,
    @SiteName() site: string,
    @Body() body: DrainSiteRequest,
    @Req() request: HttpRequest,
  ): Promise<SiteResponse> {
    const { reason } = body;
    return this.sites.drain(site, { by: principal.user, reason, origin: { request } });
  }

  /**
   * Give a drained site jobs again.
   *
   * @remarks Waiting jobs start there as soon as there is room.
   * @throws {404} Unknown
   */
  @Post(':site/resume')
  @HttpCode(200)
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', siteChange('resume'))
  async resumeSite(@SiteName() site: string, @Req() request: HttpRequest): Promise<SiteResponse> {
    return this.sites.resume(site, { request });
  }
}

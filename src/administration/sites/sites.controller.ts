import { Body, Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { AuditDetails, HttpRequest } from '#src/platform/index.js';
import { AuditedRefusal } from '../answer/refused.decorator.js';
import { DrainSiteRequest } from './site.request.js';
import { SiteListResponse, SiteResponse } from './site.response.js';
import { SitesService } from './sites.service.js';

const siteChange =
  (what: string) =>
  ({ site }: Record<string, string>): AuditDetails => ({ changes: [`~ sites.${site}: ${what}`] });

/** Sites and their drains, for administrators. */
@Controller('admin/sites')
export class SitesController {
  constructor(private readonly sites: SitesService) {}

  /** List sites, in the order of the registry. */
  @Get()
  @Access('bearer', 'admin')
  async listSites(): Promise<SiteListResponse> {
    return { sites: await this.sites.all() };
  }

  /**
   * Give a site no new jobs; what runs there goes on.
   *
   * @throws {404} Unknown
   */
  @Post(':site/drain')
  @HttpCode(200)
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', siteChange('drain'))
  async drainSite(
    @CurrentPrincipal() principal: Principal,
    @Param('site') site: string,
    @Body() body: DrainSiteRequest,
    @Req() request: HttpRequest,
  ): Promise<SiteResponse> {
    const { reason } = body;
    return this.sites.drain(site, { by: principal.user, reason, origin: { request } });
  }

  /**
   * Give a drained site jobs again.
   *
   * @throws {404} Unknown
   */
  @Post(':site/resume')
  @HttpCode(200)
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', siteChange('resume'))
  async resumeSite(
    @Param('site') site: string,
    @Req() request: HttpRequest,
  ): Promise<SiteResponse> {
    return this.sites.resume(site, { request });
  }
}

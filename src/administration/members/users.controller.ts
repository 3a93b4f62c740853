import { Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { Access } from '#src/auth/index.js';
import type { HttpRequest, HttpResponse } from '#src/platform/index.js';
import { AuditedRefusal } from '../answer/refused.decorator.js';
import { RegistryChangeResponse, UserListResponse, UserResponse } from './member.response.js';
import { MembersService } from './members.service.js';
import { ListUsersQuery } from './users.query.js';

/** Users, for administrators. */
@Controller('admin/users')
export class UsersController {
  constructor(private readonly members: MembersService) {}

  /** List users, by name. */
  @Get()
  @Access('bearer', 'admin')
  async listUsers(
    @Query() query: ListUsersQuery,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<UserListResponse> {
    const { next, ...page } = await this.members.users(query);
    if (next !== undefined) response.setHeader('Link', `<${next}>; rel="next"`);
    return page;
  }

  /**
   * A user with certificates and groups.
   *
   * @throws {404} Unknown
   */
  @Get(':user')
  @Access('bearer', 'admin')
  async getUser(@Param('user') user: string): Promise<UserResponse> {
    return this.members.user(user);
  }

  /**
   * Disable a user: no token is good any more.
   *
   * @remarks The groups stay for `POST /admin/users/{user}/enable`, which alone brings one back.
   * @throws {404} Unknown
   * @throws {409} It is the last administrator
   */
  @Post(':user/disable')
  @HttpCode(200)
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', ({ user }) => ({
    changes: [`~ users.${user}: disable`],
  }))
  async disableUser(
    @Param('user') user: string,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.disable(user, { request });
  }

  /**
   * Enable a user who was disabled, with the groups as they are.
   *
   * @throws {404} Unknown
   * @throws {409} The registry does not allow it
   */
  @Post(':user/enable')
  @HttpCode(200)
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', ({ user }) => ({
    changes: [`~ users.${user}: enable`],
  }))
  async enableUser(
    @Param('user') user: string,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.enable(user, { request });
  }
}

import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Patch,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access } from '#src/auth/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { CreatedAt } from '../answer/created-at.decorator.js';
import { AuditedRefusal } from '../answer/refused.decorator.js';
import { UserListResponse, UserResponse } from './member.response.js';
import { RegistryChangeResponse } from '../registry/registry-change.response.js';
import { MembersService } from './members.service.js';
import { AddUserRequest, ChangeUserRequest } from './user.request.js';
import { ListUsersQuery } from './users.query.js';
import { UserName } from '../answer/administration.openapi.js';

/** Users, for administrators. */
@ApiTags('administration')
@Controller('admin/users')
export class UsersController {
  constructor(private readonly members: MembersService) {}

  /**
   * List users, by name.
   *
   * @remarks `search` finds names, e-mail addresses, certificates and subjects; page by page with `limit` and `after`.
   */
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
   * @remarks With the accounts at identity providers that stand for the user.
   * @throws {404} Unknown
   */
  @Get(':user')
  @Access('bearer', 'admin')
  async getUser(@UserName() user: string): Promise<UserResponse> {
    return this.members.user(user);
  }

  /**
   * Add a user.
   *
   * @remarks Without a certificate or a subject nobody signs in as the user. Whoever is added under the name of a user who was removed has their jobs and files.
   * @throws {409} The user is there already, or the registry does not allow it
   */
  @Post()
  @Access('bearer', 'admin')
  @CreatedAt('/admin/users', UserResponse)
  @AuditedRefusal('registry.changed', () => ({ changes: ['+ users'] }))
  async addUser(@Body() body: AddUserRequest, @Req() request: HttpRequest): Promise<UserResponse> {
    return this.members.addUser(body, { request });
  }

  /**
   * Change a user: what is left out stays, null takes away.
   *
   * @remarks Lists are replaced as a whole.
   * @throws {404} Unknown
   * @throws {409} It is the last administrator, or the registry does not allow it
   */
  @Patch(':user')
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', ({ user }) => ({ changes: [`~ users.${user}`] }))
  async changeUser(
    @UserName() user: string,
    @Body() body: ChangeUserRequest,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.changeUser(user, body, { request });
  }

  /**
   * Remove a user, from all groups, too; no token is good any more.
   *
   * @remarks Jobs go on, and jobs and files stay with the name. The subject of the user's tokens is never given to another.
   * @throws {404} Unknown
   * @throws {409} It is the last administrator
   */
  @Delete(':user')
  @HttpCode(204)
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', ({ user }) => ({ changes: [`- users.${user}`] }))
  async removeUser(@UserName() user: string, @Req() request: HttpRequest): Promise<void> {
    await this.members.removeUser(user, { request });
  }

  /**
   * Disable a user: no token is good any more.
   *
   * @remarks The groups stay for `POST /admin/users/{user}/enable`.
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
    @UserName() user: string,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.disable(user, { request });
  }

  /**
   * Enable a user who was disabled, with the groups as they are.
   *
   * @remarks Tokens from before stay revoked.
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
    @UserName() user: string,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.enable(user, { request });
  }
}

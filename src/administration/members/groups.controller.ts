import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Put, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access } from '#src/auth/index.js';
import type { AuditDetails } from '#src/audit/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { CreatedAt } from '../answer/created-at.decorator.js';
import { AuditedRefusal } from '../answer/refused.decorator.js';
import { AddGroupRequest, ChangeGroupRequest } from './group.request.js';
import { GroupListResponse, GroupResponse } from './member.response.js';
import { RegistryChangeResponse } from '../registry/registry-change.response.js';
import { MembersService } from './members.service.js';
import { GroupName, UserName } from '../answer/administration.openapi.js';

const membersChange =
  (sign: '+' | '-') =>
  ({ group, user }: Record<string, string>): AuditDetails => ({
    changes: [`~ groups.${group}: members ${sign}${user}`],
  });

/** Groups and who is in them, for administrators. */
@ApiTags('administration')
@Controller('admin/groups')
export class AdministeredGroupsController {
  constructor(private readonly members: MembersService) {}

  /**
   * List groups, in the order of the registry.
   *
   * @remarks With members, properties and limits.
   */
  @Get()
  @Access('bearer', 'admin')
  async listAllGroups(): Promise<GroupListResponse> {
    return { groups: await this.members.groups() };
  }

  /**
   * A group with its members.
   *
   * @remarks With properties and limits.
   * @throws {404} Unknown
   */
  @Get(':group')
  @Access('bearer', 'admin')
  async getGroup(@GroupName() group: string): Promise<GroupResponse> {
    return this.members.group(group);
  }

  /**
   * Add a group.
   *
   * @remarks Setups with a list of groups are not open to it: the registry file says which they are.
   * @throws {409} The group is there already, or the registry does not allow it
   */
  @Post()
  @Access('bearer', 'admin')
  @CreatedAt('/admin/groups', GroupResponse)
  @AuditedRefusal('registry.changed', () => ({ changes: ['+ groups'] }))
  async addGroup(
    @Body() body: AddGroupRequest,
    @Req() request: HttpRequest,
  ): Promise<GroupResponse> {
    return this.members.addGroup(body, { request });
  }

  /**
   * Change a group: what is left out stays, null takes away.
   *
   * @remarks Lists and objects are replaced as a whole.
   * @throws {404} Unknown
   * @throws {409} Nobody could administer the service any more, or the registry does not allow it
   */
  @Patch(':group')
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', ({ group }) => ({ changes: [`~ groups.${group}`] }))
  async changeGroup(
    @GroupName() group: string,
    @Body() body: ChangeGroupRequest,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.changeGroup(group, body, { request });
  }

  /**
   * Remove a group that has no members, also from the setups that name it.
   *
   * @remarks Jobs and files stay with its name.
   * @throws {404} Unknown
   * @throws {409} It has members, or something else needs it
   */
  @Delete(':group')
  @HttpCode(204)
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', ({ group }) => ({ changes: [`- groups.${group}`] }))
  async removeGroup(@GroupName() group: string, @Req() request: HttpRequest): Promise<void> {
    await this.members.removeGroup(group, { request });
  }

  /**
   * Take a user into a group.
   *
   * @remarks The properties and limits are those of the group.
   * @throws {404} There is no such group or user
   * @throws {409} The registry does not allow it
   */
  @Put(':group/members/:user')
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', membersChange('+'))
  async addGroupMember(
    @GroupName() group: string,
    @UserName() user: string,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.addMember(group, user, { request });
  }

  /**
   * Take a user out of a group; tokens for it end.
   *
   * @remarks The last administrator cannot be taken out.
   * @throws {404} There is no such group or user, or the user is no member
   * @throws {409} It is the last administrator
   */
  @Delete(':group/members/:user')
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', membersChange('-'))
  async removeGroupMember(
    @GroupName() group: string,
    @UserName() user: string,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.removeMember(group, user, { request });
  }
}

import { Controller, Delete, Get, Param, Put, Req } from '@nestjs/common';
import { Access } from '#src/auth/index.js';
import type { AuditDetails, HttpRequest } from '#src/platform/index.js';
import { AuditedRefusal } from '../answer/refused.decorator.js';
import { GroupListResponse, GroupResponse, RegistryChangeResponse } from './member.response.js';
import { MembersService } from './members.service.js';

const membersChange =
  (sign: '+' | '-') =>
  ({ group, user }: Record<string, string>): AuditDetails => ({
    changes: [`~ groups.${group}: members ${sign}${user}`],
  });

/** Groups and who is in them, for administrators. */
@Controller('admin/groups')
export class AdministeredGroupsController {
  constructor(private readonly members: MembersService) {}

  /** List groups, in the order of the registry. */
  @Get()
  @Access('bearer', 'admin')
  async listAllGroups(): Promise<GroupListResponse> {
    return { groups: await this.members.groups() };
  }

  /**
   * A group with its members.
   *
   * @throws {404} Unknown
   */
  @Get(':group')
  @Access('bearer', 'admin')
  async getGroup(@Param('group') group: string): Promise<GroupResponse> {
    return this.members.group(group);
  }

  /**
   * Take a user into a group.
   *
   * @throws {404} There is no such group or user
   * @throws {409} The registry does not allow it
   */
  @Put(':group/members/:user')
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', membersChange('+'))
  async addGroupMember(
    @Param('group') group: string,
    @Param('user') user: string,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.addMember(group, user, { request });
  }

  /**
   * Take a user out of a group; tokens for it end.
   *
   * @throws {404} There is no such group or user, or the user is no member
   * @throws {409} It is the last administrator
   */
  @Delete(':group/members/:user')
  @Access('bearer', 'admin')
  @AuditedRefusal('registry.changed', membersChange('-'))
  async removeGroupMember(
    @Param('group') group: string,
    @Param('user') user: string,
    @Req() request: HttpRequest,
  ): Promise<RegistryChangeResponse> {
    return this.members.removeMember(group, user, { request });
  }
}

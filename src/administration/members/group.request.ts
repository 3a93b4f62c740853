import { ApiProperty } from '@nestjs/swagger';
import { IsString } from '#src/http/index.js';
import { PROPERTIES } from '#src/registry/index.js';
import { Members, Text, Texts } from '../registry/member-rules.js';

const VO = { description: 'Virtual organisation: a name of a directory', example: 'biomed' };
const RIGHTS = {
  description: 'What members may do',
  items: { type: 'string', enum: PROPERTIES },
  example: ['NormalUser'],
};
const SCOPES = {
  description: 'Scopes at an identity provider that stand for the group',
  example: ['wlcg.groups:/biomed/user'],
};
const ROLE = { description: 'Role at an identity provider that stands for the group' };
const LIMITS = {
  description:
    'Of the jobs: `running`, `waiting`, `ownerRunning` and `ownerWaiting`, whole numbers; none when it is empty',
  example: { running: 1000, ownerRunning: 100 },
};
const MEMBERS = { description: 'Names of users', example: ['dora'] };

/** What both bodies may say. */
class GroupRequest {
  @Texts(RIGHTS)
  properties?: string[];

  @Texts(MEMBERS)
  members?: string[];

  @Texts(SCOPES)
  idpScopes?: string[];

  @Members(LIMITS)
  limits?: object;
}

/** Body of `POST /admin/groups`. */
export class AddGroupRequest extends GroupRequest {
  @ApiProperty({
    description: '1 to 128 characters without blank, slash and comma',
    minLength: 1,
    maxLength: 128,
    example: 'biomed_user',
  })
  @IsString()
  name!: string;

  @Text(VO)
  vo?: string;

  @Text(ROLE)
  idpRole?: string;
}

/** Body of `PATCH /admin/groups/<group>`: what is left out stays, lists and objects are replaced as a whole, null takes away. */
export class ChangeGroupRequest extends GroupRequest {
  @Text(VO, { removable: true })
  vo?: string | null;

  @Text(ROLE, { removable: true })
  idpRole?: string | null;
}

import { ApiProperty } from '@nestjs/swagger';
import type { Group, User } from '#src/registry/index.js';

const LIMITS = { type: 'object', additionalProperties: true } as const;

/** A certificate of a user. */
export class CertificateResponse {
  @ApiProperty({ description: 'Canonical DN', example: '/DC=org/DC=example/CN=Alice Example' })
  subject!: string;

  @ApiProperty({ description: 'DN of the CA that must have signed it', required: false })
  issuer?: string;
}

/** A user at an identity provider. */
export class SubjectResponse {
  @ApiProperty({ example: 'https://idp.example.org' })
  issuer!: string;

  @ApiProperty({ example: '7d3f' })
  sub!: string;
}

/** Somebody who may use the service. */
export class UserResponse {
  @ApiProperty({ example: 'alice' })
  name!: string;

  @ApiProperty({ description: 'What tokens call the user', required: false })
  sub?: string;

  @ApiProperty({ required: false, example: 'Alice Example' })
  fullName?: string;

  @ApiProperty({ required: false, example: 'alice@example.org' })
  email?: string;

  certificates!: CertificateResponse[];

  subjects!: SubjectResponse[];

  @ApiProperty({ description: 'Names of groups, in the order of the registry', type: [String] })
  groups!: string[];

  @ApiProperty({ ...LIMITS, description: 'Of the jobs: `running` and `waiting`' })
  limits?: object;

  @ApiProperty({ description: 'No token is good, whatever the groups are' })
  disabled!: boolean;

  static from(user: User, groups: readonly string[]): UserResponse {
    const { name, sub, fullName, email, limits, disabled = false } = user;
    return {
      name,
      ...(sub !== undefined && { sub }),
      ...(fullName !== undefined && { fullName }),
      ...(email !== undefined && { email }),
      certificates: user.certificates.map(({ subject, issuer }) => ({
        subject,
        ...(issuer !== undefined && { issuer }),
      })),
      subjects: user.subjects.map(({ issuer, sub: subject }) => ({ issuer, sub: subject })),
      groups: [...groups],
      ...(limits && { limits }),
      disabled,
    };
  }
}

/** Users, by name. */
export class UserListResponse {
  users!: UserResponse[];

  @ApiProperty({ type: 'integer', description: 'How many there are on all pages', example: 6 })
  total!: number;
}

/** Members who share rights. */
export class GroupResponse {
  @ApiProperty({ example: 'grid_user' })
  name!: string;

  @ApiProperty({ description: 'Virtual organisation', required: false, example: 'biomed' })
  vo?: string;

  @ApiProperty({ type: [String], example: ['NormalUser'] })
  properties!: string[];

  @ApiProperty({ description: 'Names of users', type: [String], example: ['alice'] })
  members!: string[];

  @ApiProperty({
    description: 'Scopes at an identity provider that stand for it',
    type: [String],
    required: false,
  })
  idpScopes?: string[];

  @ApiProperty({ description: 'Role at an identity provider that stands for it', required: false })
  idpRole?: string;

  @ApiProperty({
    ...LIMITS,
    description: 'Of the jobs: `running`, `waiting`, `ownerRunning` and `ownerWaiting`',
  })
  limits?: object;

  static from(group: Group): GroupResponse {
    const { name, vo, properties, members, idpScopes, idpRole, limits } = group;
    return {
      name,
      ...(vo !== undefined && { vo }),
      properties: [...properties],
      members: [...members],
      ...(idpScopes.length > 0 && { idpScopes: [...idpScopes] }),
      ...(idpRole !== undefined && { idpRole }),
      ...(limits && { limits }),
    };
  }
}

/** Groups, in the order of the registry. */
export class GroupListResponse {
  groups!: GroupResponse[];
}

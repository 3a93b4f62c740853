import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { User } from '#src/registry/index.js';
import { subjectOf } from '../bearer/subject.js';
import type { Right } from '../protocol/grid-scopes.js';

/** What may be said of a user (OpenID Connect Core §5.1), by the scopes of the token. */
export class UserinfoResponse {
  @ApiProperty({
    description: 'The `sub` of the tokens',
    example: '7c1c2c4e-3d0a-4b7e-9a65-0d5f2c2f7f10',
  })
  sub!: string;

  @ApiPropertyOptional({ description: 'Scope `profile`: for people', example: 'Alice Example' })
  name?: string;

  @ApiPropertyOptional({ description: 'Scope `profile`: the user name', example: 'alice' })
  preferred_username?: string;

  @ApiPropertyOptional({ description: 'Scope `email`', example: 'alice@example.org' })
  email?: string;

  @ApiPropertyOptional({ description: 'Scope `email`: false, nobody has tried it', example: false })
  email_verified?: boolean;

  static of(user: User, scopes: ReadonlySet<Right>): UserinfoResponse {
    const { name, fullName, email } = user;
    return {
      sub: subjectOf(user),
      ...(scopes.has('profile') && {
        ...(fullName !== undefined && { name: fullName }),
        preferred_username: name,
      }),
      ...(scopes.has('email') && email !== undefined && { email, email_verified: false }),
    };
  }
}

import { ApiProperty } from '@nestjs/swagger';
import { IsString } from '#src/http/index.js';
import { Members, Records, Text, Texts } from '../registry/member-rules.js';

const SUB = {
  description: 'What tokens call the user: made up when it is left out, and never given to another',
};
const FULL_NAME = {
  description: 'For people',
  minLength: 1,
  maxLength: 200,
  example: 'Dora Example',
};
const EMAIL = { description: 'E-mail address', example: 'dora@example.org' };
const LIMITS = {
  description: 'Of the jobs: `running` and `waiting`, whole numbers; none when it is empty',
  example: { running: 500 },
};

const CERTIFICATES = 'Certificates that the user signs in with; each belongs to one user only';
const SUBJECTS = 'Accounts at identity providers; each belongs to one user only';

/** A certificate, as a body says it. */
class CertificateRequest {
  @ApiProperty({
    description: 'DN in any spelling',
    example: '/DC=org/DC=example/CN=Dora Example',
  })
  subject!: string;

  @ApiProperty({
    description: 'DN of the trusted CA that must have signed it; left out: any trusted one',
    required: false,
    example: '/DC=org/DC=example/CN=Example CA',
  })
  issuer?: string;
}

/** An account at an identity provider, as a body says it. */
class SubjectRequest {
  @ApiProperty({ description: 'Identity provider', example: 'https://idp.example.org' })
  issuer!: string;

  @ApiProperty({ description: 'What it calls the user', example: '7d3f' })
  sub!: string;
}

/** What both bodies may say. */
class UserRequest {
  @Text(SUB)
  sub?: string;

  @Records(CertificateRequest, CERTIFICATES)
  certificates?: CertificateRequest[];

  @Records(SubjectRequest, SUBJECTS)
  subjects?: SubjectRequest[];

  @Members(LIMITS)
  limits?: object;
}

/** Body of `POST /admin/users`. */
export class AddUserRequest extends UserRequest {
  @ApiProperty({
    description: 'Owner of jobs and files; 1 to 128 characters without blank, slash and comma',
    minLength: 1,
    maxLength: 128,
    example: 'dora',
  })
  @IsString()
  name!: string;

  @Text(FULL_NAME)
  fullName?: string;

  @Text(EMAIL)
  email?: string;

  @Texts({ description: 'Groups that the user becomes a member of', example: ['grid_user'] })
  groups?: string[];
}

/** Body of `PATCH /admin/users/<user>`: what is left out stays, lists and objects are replaced as a whole, null takes away. */
export class ChangeUserRequest extends UserRequest {
  @Text(FULL_NAME, { removable: true })
  fullName?: string | null;

  @Text(EMAIL, { removable: true })
  email?: string | null;
}

import { ApiProperty } from '@nestjs/swagger';
import { Problem } from '#src/kernel/index.js';
import { IsOptional, IsString, type RequestShape } from '#src/http/index.js';
import { invalidForm } from '../../protocol/oauth-errors.js';

/** How forms of the pages are read: a handful of short fields, of which browsers and their extensions may add some. */
export const PAGE_FORM: RequestShape = {
  body: 'form',
  ignoresUnknown: true,
  limitBytes: 16 * 1024,
  refuse: (violations) => {
    const isForged = violations.some(
      ({ field, problem }) => field === 'csrf' && problem === 'is missing',
    );
    return isForged ? invalidForm() : Problem.invalid(violations);
  },
};

/** What every form of the pages carries. */
export class PageForm {
  @ApiProperty({ description: 'From the page; a form without it is refused' })
  @IsString()
  csrf!: string;
}

/** The group and the setup that a user chooses on a page. */
export class ChoiceForm extends PageForm {
  @ApiProperty({ example: 'grid_user' })
  @IsOptional()
  @IsString()
  group?: string;

  @ApiProperty({ example: 'Prod' })
  @IsOptional()
  @IsString()
  setup?: string;
}

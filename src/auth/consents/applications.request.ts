import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, Shape } from '#src/http/index.js';
import { PAGE_FORM, PageForm } from '../sign-in/pages/page.request.js';

/** The form that withdraws what an application was allowed. */
@Shape(PAGE_FORM)
export class WithdrawForm extends PageForm {
  @ApiProperty({ example: 'demo-portal', required: true })
  @IsOptional()
  @IsString()
  client_id?: string;
}

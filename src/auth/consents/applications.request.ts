import { ApiProperty } from '@nestjs/swagger';

/** The form that signs a browser out. */
export class LeaveForm {
  @ApiProperty({ description: 'From the page; a form without it is refused' })
  csrf!: string;
}

/** The form that withdraws what an application was allowed. */
export class WithdrawForm extends LeaveForm {
  @ApiProperty({ example: 'demo-portal' })
  client_id!: string;
}

import { ApiProperty } from '@nestjs/swagger';
import type { ChangeKind, ChangeOutcome } from '../events/logged-change.js';

/** A change of the catalogue. */
class CatalogueChangeResponse {
  @ApiProperty({ description: 'Path in the catalogue', example: '/vo/a/f1' })
  path!: string;

  @ApiProperty({
    enum: ['created', 'changed', 'removed', 'moved'],
    description:
      '`changed` of a directory: owner, group or mode, so that more or less below it may be seen. `removed`: with everything below it, and also when it may not be seen any more',
  })
  change!: ChangeOutcome;

  @ApiProperty({
    required: false,
    description: 'Of a directory that was moved: where it was, if that may be seen',
    example: '/vo/b',
  })
  from?: string;
}

/** One event. */
class CatalogueEventResponse {
  @ApiProperty({ description: 'Position behind the event', example: '815' })
  id!: string;
  @ApiProperty({
    enum: ['directory', 'file', 'metadata'],
    description:
      '`metadata`: that of the directory or file has changed; of `/`: a field has been declared or deleted, or values of the root have changed',
  })
  event!: ChangeKind;
  data!: CatalogueChangeResponse;
}

/** The answer to a long poll. */
export class CatalogueEventsResponse {
  events!: CatalogueEventResponse[];
  @ApiProperty({ description: '`after` of the next request', example: '815' })
  position!: string;
}

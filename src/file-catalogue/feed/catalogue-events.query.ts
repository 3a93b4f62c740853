import { ApiProperty } from '@nestjs/swagger';
import { Problem } from '#src/kernel/index.js';
import { After, Wait, type FeedCursor } from '#src/events/index.js';
import { ReadBy } from '#src/http/index.js';
import { pathFault } from '../path/catalogue-path.js';

/** Of what changes are told. */
export class CatalogueSelectionQuery {
  @ApiProperty({
    type: 'string',
    required: false,
    pattern: '^/([^/]+(/[^/]+)*/?)?$',
    description: 'A path, as it is: only what happens at or below it',
    example: '/vo',
  })
  @ReadBy(readPrefix)
  prefix: string = '/';
}

/** Query of `GET /filecatalogue/events`: of what, from where on, and how. */
export class CatalogueEventsQuery extends CatalogueSelectionQuery {
  @After()
  after?: FeedCursor;

  @Wait()
  wait?: number;
}

/** One slash at the end is ignored, as in the paths of addresses. */
function readPrefix(text: string, key: string): string {
  const path = text.length > 1 && text.endsWith('/') ? text.slice(0, -1) : text;
  const fault = pathFault(path);
  if (fault !== undefined) throw Problem.invalidField(key, fault);
  return path;
}

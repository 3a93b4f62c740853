import { ApiProperty } from '@nestjs/swagger';
import { FreeKeys, IsOptional } from '#src/http/index.js';
import { isCondition, readConditions, type RawCondition } from './metadata-condition.js';

/** A query of metadata conditions, each under the name of its field. */
export class ConditionsQuery {
  @IsOptional()
  @ApiProperty({
    description:
      'Metadata conditions: key = field name, value = `operation|value`. `int`, `float`, `date`: `<` `>` `=` `<=` `>=` `!=`; `string`: `in` `nin` with a comma-separated list. Several conditions AND together.',
    selfRequired: false,
    type: 'object',
    additionalProperties: { type: 'string', pattern: '^(<|>|=|<=|>=|!=|in|nin)\\|' },
    example: { run: '>=|2', particle: 'in|e,mu' },
  })
  @FreeKeys({
    takes: (_key, value) => isCondition(value as string),
    read: readConditions,
    hint: 'a condition is written operation|value',
  })
  conditions!: RawCondition[];
}

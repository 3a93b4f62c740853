import { ApiProperty } from '@nestjs/swagger';
import { FreeKeys, IsOptional } from '#src/http/index.js';
import {
  COMPARISONS,
  isCondition,
  MEMBERSHIPS,
  readConditions,
  type RawCondition,
} from './metadata-condition.js';

const shown = (operators: readonly string[]): string =>
  operators.map((operator) => `\`${operator}\``).join(' ');

/** A query of metadata conditions, each under the name of its field. */
export class ConditionsQuery {
  @IsOptional()
  @ApiProperty({
    description: `Metadata conditions: key = field name, value = \`operation|value\`. \`int\`, \`float\`, \`date\`: ${shown(COMPARISONS)}; \`string\`: ${shown(MEMBERSHIPS)} with a comma-separated list. Several conditions AND together.`,
    selfRequired: false,
    type: 'object',
    additionalProperties: {
      type: 'string',
      pattern: `^(${[...COMPARISONS, ...MEMBERSHIPS].join('|')})\\|`,
    },
    example: { run: '>=|2', particle: 'in|e,mu' },
  })
  @FreeKeys({
    takes: (_key, value) => isCondition(value as string),
    read: readConditions,
    hint: 'a condition is written operation|value',
  })
  conditions!: RawCondition[];
}

import { applyDecorators, type Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { isJsonObject, Problem, type JsonValue } from '#src/kernel/index.js';
import { IsOptional, ReadBy } from '#src/http/index.js';

/** Longest list of a body. */
const MOST = 1000;

const isText = (value: JsonValue): boolean => typeof value === 'string';
const areTexts = (value: JsonValue): boolean =>
  Array.isArray(value) && value.length <= MOST && value.every(isText);

/** Members of a JSON body are checked by their kind here, and by the rules of the registry file when they are kept. */
function member(
  accepts: (value: JsonValue) => boolean,
  problem: string,
  shown: ApiPropertyOptions,
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ ...shown, required: false } as ApiPropertyOptions),
    IsOptional(),
    ReadBy((value: JsonValue, key: string) => {
      if (accepts(value)) return value;
      throw Problem.invalidField(key, problem);
    }),
  );
}

/** Whether null, which takes a member away, is a value here. */
interface Removable {
  removable?: boolean;
}

const orNull =
  (accepts: (value: JsonValue) => boolean, removable = false) =>
  (value: JsonValue): boolean =>
    (removable && value === null) || accepts(value);

const nullable = (removable = false): object => (removable ? { nullable: true } : {});

/** A text that may be left out. */
export const Text = (shown: object, { removable }: Removable = {}): PropertyDecorator =>
  member(orNull(isText, removable), 'is not a text', {
    type: String,
    ...nullable(removable),
    ...shown,
  });

/** A whole number that may be left out. */
export const Count = (
  shown: { minimum: number; maximum: number; description: string; example?: number },
  { removable }: Removable = {},
): PropertyDecorator =>
  member(orNull(Number.isInteger, removable), 'is not a whole number', {
    type: 'integer',
    ...nullable(removable),
    ...shown,
  });

/** A list of texts that may be left out. */
export const Texts = (shown: object, { removable }: Removable = {}): PropertyDecorator =>
  member(orNull(areTexts, removable), `is not a list of at most ${MOST} texts`, {
    ...{ type: 'array', items: { type: 'string' }, maxItems: MOST },
    ...nullable(removable),
    ...shown,
  });

/** A list of objects of this shape that may be left out. */
export const Records = (shape: Type, description: string): PropertyDecorator =>
  member(
    (value) => Array.isArray(value) && value.length <= MOST && value.every(isJsonObject),
    `is not a list of at most ${MOST} objects`,
    { type: [shape], maxItems: MOST, description },
  );

/** An object that may be left out; what may stand in it the registry file says. */
export const Members = (shown: object): PropertyDecorator =>
  member(isJsonObject, 'is not a JSON object', {
    type: 'object',
    additionalProperties: true,
    ...shown,
  });

/**
 * The validators of class-validator that requests use, with this service's words as their messages: what a violation says
 * never depends on who wrote the class. Under their own names, so that the Swagger plugin finds the limits in them. A class
 * may still give another message where the interface has one.
 */
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  IsArray as isArray,
  ArrayMinSize as arrayMinSize,
  IsBoolean as isBoolean,
  IsIn as isIn,
  IsInt as isInt,
  IsObject as isObject,
  IsString as isString,
  Matches as matches,
  Max as max,
  MaxLength as maxLength,
  Min as min,
  MinLength as minLength,
  ValidateBy,
  ValidateIf,
  type ValidationOptions,
} from 'class-validator';

export { Allow, ValidateNested } from 'class-validator';
export { Type } from 'class-transformer';

/** The condition of what may be left out. */
export const IS_GIVEN = (_object: object, value: unknown): boolean => value !== undefined;

/** May be left out; null is a value like any other. */
export const IsOptional = (options?: ValidationOptions): PropertyDecorator =>
  applyDecorators(ValidateIf(IS_GIVEN, options), ApiProperty({ required: false }));

/** true or false; in a query also 1, 0, yes, no, in any case. */
export const IsBoolean = (options?: ValidationOptions): PropertyDecorator =>
  isBoolean({ message: 'is not true or false', ...options });

/** A text. */
export const IsString = (options?: ValidationOptions): PropertyDecorator =>
  isString({ message: 'is not a text', ...options });

/** A whole number that a double holds exactly. */
export const IsInt = (options?: ValidationOptions): PropertyDecorator =>
  applyDecorators(
    isInt({ message: 'is not a whole number', ...options }),
    ApiProperty({ type: 'integer' }),
  );

/** A JSON object. */
export const IsObject = (options?: ValidationOptions): PropertyDecorator =>
  isObject({ message: 'is not a JSON object', ...options });

/** A list. */
export const IsArray = (options?: ValidationOptions): PropertyDecorator =>
  isArray({ message: 'is not a list', ...options });

/** One of the words. */
export const IsIn = (words: readonly string[], options?: ValidationOptions): PropertyDecorator =>
  isIn(words, { message: `is not one of ${words.join(', ')}`, ...options });

/** At least this number. */
export const Min = (least: number, options?: ValidationOptions): PropertyDecorator =>
  min(least, { message: `must be at least ${least}`, ...options });

/** At most this number. */
export const Max = (most: number, options?: ValidationOptions): PropertyDecorator =>
  max(most, { message: `must be at most ${most}`, ...options });

/** What is above becomes this number instead of being refused. */
export const Clamp = (most: number): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'number' ? Math.min(value, most) : value,
  );

/** At least so many characters. */
export const MinLength = (least: number, options?: ValidationOptions): PropertyDecorator =>
  minLength(least, { message: `has fewer than ${least} characters`, ...options });

/** At most so many characters. */
export const MaxLength = (most: number, options?: ValidationOptions): PropertyDecorator =>
  maxLength(most, { message: `has more than ${most} characters`, ...options });

/** A text of this form. */
export const Matches = (pattern: RegExp, options?: ValidationOptions): PropertyDecorator =>
  matches(pattern, { message: 'is malformed', ...options });

/** At least so many entries. */
export const ArrayMinSize = (least: number, options?: ValidationOptions): PropertyDecorator =>
  arrayMinSize(least, { message: `has fewer than ${least} entries`, ...options });

/** A value that the function accepts, judged after the validators below this one. */
export const Check = <V>(
  accepts: (value: V) => boolean,
  options: ValidationOptions,
): PropertyDecorator =>
  ValidateBy({ name: 'check', validator: { validate: (value) => accepts(value as V) } }, options);

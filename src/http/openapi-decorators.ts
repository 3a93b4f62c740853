import { applyDecorators, Param, type PipeTransform } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiProduces, ApiResponse } from '@nestjs/swagger';
import type { OpenApiSchema } from './openapi-errors.js';

/** How a part of a path is described and read. */
interface PathParameter {
  description: string;
  schema: OpenApiSchema;
  pipe?: PipeTransform<string, unknown>;
}

/** Makes a decorator that gives a handler a part of the path and describes it in the OpenAPI document. */
export function pathParameter(
  name: string,
  { description, schema, pipe }: PathParameter,
): () => ParameterDecorator {
  return () => (target, method, index) => {
    Param(name, ...(pipe ? [pipe] : []))(target, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, method ?? '') ?? {};
    (ApiParam({ name, description, schema }) as MethodDecorator)(target, method ?? '', descriptor);
  };
}

/** The route answers with bytes of these media types, or with the range of them that was asked for. */
export function Download(...mediaTypes: string[]): MethodDecorator {
  const schema = { type: 'string', format: 'binary' };
  return applyDecorators(
    ApiProduces(...mediaTypes),
    ApiOkResponse({ schema }),
    ApiResponse({ status: 206, schema, description: 'The bytes that `Range` asked for' }),
    ApiResponse({ status: 304, description: 'Unchanged: `If-None-Match` names its ETag' }),
    ApiResponse({ status: 416, description: 'There are no such bytes' }),
  );
}

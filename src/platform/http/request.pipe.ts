import {
  Inject,
  Injectable,
  type ArgumentMetadata,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { CONFIG, type Config } from '../config/env.js';
import { hasBody, readForm, readJsonObject } from './body.js';
import type { HttpRequest } from './messages.js';
import { queryOfContext, QueryValues, queryValuesOf } from './query-values.js';
import {
  isRequestClass,
  keysOfClass,
  readJson,
  readValues,
  shapeOf,
  type RequestClass,
} from './request-class.js';

/**
 * The one pipe: `@Query()` and `@Body()` of a handler arrive as the classes of its parameters, checked, or not at all. The
 * adapter gives it the query as QueryValues and, for a body, the request itself: it is read here, after the guard.
 */
@Injectable()
export class RequestPipe implements PipeTransform {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'maxBodyBytes'>) {}

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (!isRequestClass(metatype)) return value;
    if (type === 'query') return readValues(metatype, value as QueryValues);
    return type === 'body' ? this.body(metatype, value as HttpRequest) : value;
  }

  private async body(requestClass: RequestClass, request: HttpRequest): Promise<object> {
    const shape = shapeOf(requestClass);
    const { body = 'json', limitBytes = this.config.maxBodyBytes } = shape;
    const isLeftOut = shape.isOptional === true && !hasBody(request);
    if (body === 'json') {
      return readJson(requestClass, isLeftOut ? {} : await readJsonObject(request, limitBytes));
    }
    const form = isLeftOut ? new QueryValues('') : await readForm(request, limitBytes);
    if (shape.withQuery) form.add(queryValuesOf(request));
    if (!shape.ignoresUnknown) form.allowOnly(keysOfClass(requestClass));
    return readValues(requestClass, form);
  }
}

/** Handler → the query keys that it knows; undefined for one that reads the query by itself. */
const KEYS = new WeakMap<object, readonly string[] | undefined>();

/**
 * Refuses query keys that the handler does not know: those that its query class has not, or, of a handler without a query,
 * all. Called by the guard once the caller is admitted. Throws Problem 400.
 */
export function refuseStrayKeys(context: ExecutionContext): void {
  const handler = context.getHandler();
  if (!KEYS.has(handler)) KEYS.set(handler, queryKeysOf(context.getClass(), handler.name));
  const keys = KEYS.get(handler);
  if (keys === undefined) return;
  queryValuesOf(context.switchToHttp().getRequest<HttpRequest>()).allowOnly(keys);
}

function queryKeysOf(controller: new () => object, method: string): readonly string[] | undefined {
  const places = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as
    Record<string, { index: number; factory?: unknown }> | undefined;
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) as
    unknown[] | undefined;
  const keys: string[] = [];
  for (const [place, { index, factory }] of Object.entries(places ?? {})) {
    if (factory === queryOfContext) return undefined;
    const type = types?.[index];
    const isQuery = place.startsWith(`${RouteParamtypes.QUERY}:`);
    if (isQuery && isRequestClass(type)) keys.push(...keysOfClass(type));
  }
  return keys;
}

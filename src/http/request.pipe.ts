import {
  Inject,
  Injectable,
  type ArgumentMetadata,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { hasBody, readForm, readJsonObject } from './body.js';
import { type HttpRequest, QueryValues, queryValuesOf } from './messages.js';
import {
  isRequestClass,
  readJson,
  readValues,
  refuseUnknown,
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
    if (type !== 'body') return value;
    return readBody(metatype, value as HttpRequest, this.config.maxBodyBytes);
  }
}

/**
 * The body of a request as the class: for the pipe, and for those who see only in the request what its body is. Throws
 * Problem 400, 413 above the limit of the class or, if it has none, this one, 415.
 */
export async function readBody<T extends object>(
  requestClass: RequestClass<T>,
  request: HttpRequest,
  mostBytes: number,
): Promise<T> {
  const shape = shapeOf(requestClass);
  const { body = 'json', limitBytes = mostBytes } = shape;
  const isLeftOut = shape.isOptional === true && !hasBody(request);
  if (body === 'json') {
    return readJson(requestClass, isLeftOut ? {} : await readJsonObject(request, limitBytes));
  }
  const form = isLeftOut ? new QueryValues('') : await readForm(request, limitBytes);
  if (shape.withQuery) form.add(queryValuesOf(request));
  if (!shape.ignoresUnknown) refuseUnknown(form, [requestClass], 'form field');
  return readValues(requestClass, form);
}

/** Handler → the classes of its query. */
const CLASSES = new WeakMap<object, readonly RequestClass[]>();

/**
 * Refuses query keys that the handler does not know: those that its query class has not, or, of a handler without a query,
 * all. Called by the guard once the caller is admitted. Throws Problem 400.
 */
export function refuseUnknownKeys(context: ExecutionContext): void {
  const handler = context.getHandler();
  const classes = CLASSES.get(handler) ?? classesOf(context.getClass(), handler.name);
  CLASSES.set(handler, classes);
  refuseUnknown(queryValuesOf(context.switchToHttp().getRequest<HttpRequest>()), classes);
}

function classesOf(controller: new () => object, method: string): readonly RequestClass[] {
  const places = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as
    Record<string, { index: number }> | undefined;
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) as
    unknown[] | undefined;
  const classes: RequestClass[] = [];
  for (const [place, { index }] of Object.entries(places ?? {})) {
    const type = types?.[index];
    const isQuery = place.startsWith(`${RouteParamtypes.QUERY}:`);
    if (isQuery && isRequestClass(type)) classes.push(type);
  }
  return classes;
}

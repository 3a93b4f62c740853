import 'reflect-metadata';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { Body, Query, type ExecutionContext } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { type HttpRequest, QueryValues } from './messages.js';
import { FreeKeys, Shape } from './request-class.js';
import { refuseUnknownKeys, RequestPipe } from './request.pipe.js';
import { IsInt, IsOptional, IsString } from './validators.js';

class PageQuery {
  @IsOptional()
  @IsInt()
  limit?: number;
}

class ConditionQuery extends PageQuery {
  @FreeKeys({ takes: (_key, value) => /^<\d/.test(value as string), read: () => [], hint: 'or <1' })
  conditions: string[] = [];
}

class NameBody {
  @IsString()
  name!: string;
}

@Shape({ isOptional: true, limitBytes: 30 })
class OptionalBody {
  @IsOptional()
  @IsString()
  name?: string;
}

@Shape({ body: 'form', withQuery: true, ignoresUnknown: true })
class LooseForm {
  @IsOptional()
  @IsString()
  a?: string;

  @IsOptional()
  @IsString()
  b?: string;
}

@Shape({ body: 'form' })
class StrictForm {
  @IsString()
  a!: string;
}

class Routes {
  plain(): void {}
  page(@Query() _query: PageQuery): void {}
  body(@Body() _body: NameBody): void {}
  free(@Query() _query: ConditionQuery): void {}
}

function request(text: string | undefined, type: string, target = '/x'): HttpRequest {
  const bytes = Buffer.from(text ?? '');
  const headers = {
    ...(text === undefined ? {} : { 'content-length': String(bytes.length) }),
    'content-type': type,
  };
  const stream = Readable.from(text === undefined ? [] : [bytes]);
  return Object.assign(stream, {
    headers,
    url: target,
    originalUrl: target,
  }) as unknown as HttpRequest;
}

function context(method: keyof Routes, target: string): ExecutionContext {
  return {
    getHandler: () => Object.getOwnPropertyDescriptor(Routes.prototype, method)?.value as unknown,
    getClass: () => Routes,
    switchToHttp: () => ({ getRequest: () => ({ url: target }) }),
  } as unknown as ExecutionContext;
}

describe('the keys of a route', () => {
  const refused = (method: keyof Routes, target: string): unknown => {
    try {
      refuseUnknownKeys(context(method, target));
    } catch (error) {
      return error instanceof Problem ? [error.code, error.detail] : error;
    }
    return undefined;
  };

  it.each([
    ['plain', '/x'],
    ['plain', '/x?access_token=t'],
    ['page', '/x?limit=1'],
    ['body', '/x'],
    ['free', '/x?any=<1&limit=2&limit=<3'],
  ] as const)('%s takes %s', (method, target) => {
    expect(refused(method, target)).toBeUndefined();
  });

  it.each([
    ['plain', '/x?limit=1', 'limit'],
    ['page', '/x?limit=1&b=2&a=3', 'b, a'],
    ['body', '/x?name=n', 'name'],
    ['free', '/x?a=<1&b=<1&b=2&conditions=1', 'b, conditions (or <1)'],
  ] as const)('%s refuses %s', (method, target, named) => {
    expect(refused(method, target)).toEqual([
      'request.unknown-parameter',
      `Unknown query parameter: ${named}`,
    ]);
  });
});

describe('the pipe', () => {
  const pipe = new RequestPipe({ maxBodyBytes: 1000 });
  const body = (metatype: new () => object, from: HttpRequest): unknown =>
    pipe.transform(from, { type: 'body', metatype });

  it('makes query classes, and leaves all other parameters as they are', () => {
    const values = new QueryValues('limit=5');
    expect(pipe.transform(values, { type: 'query', metatype: PageQuery })).toEqual({ limit: 5 });
    expect(pipe.transform(values, { type: 'query', metatype: QueryValues })).toBe(values);
    expect(pipe.transform('7', { type: 'param', metatype: String })).toBe('7');
    expect(pipe.transform(values, { type: 'custom', metatype: PageQuery })).toBe(values);
  });

  it('reads JSON', async () => {
    const json = request('{"name":"n"}', 'application/json');
    expect(await body(NameBody, json)).toEqual({ name: 'n' });
  });

  it('takes an optional body that is missing for an empty one, and holds to the limit of the class', async () => {
    expect(await body(OptionalBody, request(undefined, ''))).toEqual({});
    const long = request(`{"name":"${'n'.repeat(30)}"}`, 'application/json');
    await expect(body(OptionalBody, long)).rejects.toMatchObject({
      code: 'request.too-large',
      detail: 'The body is larger than 30 bytes',
    });
  });

  it('adds the query to a form that wants it', async () => {
    const form = request('a=1&x=2', 'application/x-www-form-urlencoded', '/x?b=3');
    expect(await body(LooseForm, form)).toEqual({ a: '1', b: '3' });
  });

  it('names the fields that a form may not have', async () => {
    const form = request('a=1&b=2&c=3', 'application/x-www-form-urlencoded');
    await expect(body(StrictForm, form)).rejects.toMatchObject({
      code: 'request.unknown-parameter',
      detail: 'Unknown form field: b, c',
      violations: [
        { field: 'b', problem: 'is not known here' },
        { field: 'c', problem: 'is not known here' },
      ],
    });
  });

  it.each([
    ['{"name":"n"}', 'text/plain', NameBody, 'request.unsupported-media-type'],
    [undefined, '', NameBody, 'request.unsupported-media-type'],
    ['{', 'application/json', NameBody, 'request.malformed-body'],
    ['[]', 'application/json', NameBody, 'request.malformed-body'],
    ['{"name":1}', 'application/json', NameBody, 'request.invalid'],
    ['a=1&b=2', 'application/x-www-form-urlencoded', StrictForm, 'request.unknown-parameter'],
    ['a=1', 'application/json', StrictForm, 'request.unsupported-media-type'],
  ])('refuses %s as %s', async (text, type, requestClass, code) => {
    await expect(body(requestClass, request(text, type))).rejects.toMatchObject({ code });
  });
});

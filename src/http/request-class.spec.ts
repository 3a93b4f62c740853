import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { OAuthProblem, Problem, type JsonObject } from '#src/kernel/index.js';
import {
  FreeKeys,
  keysOfClass,
  ReadAllBy,
  ReadBy,
  readJson,
  readValues,
  Shape,
} from './request-class.js';
import {
  ArrayMinSize,
  Clamp,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  Type,
  ValidateNested,
} from './validators.js';
import { QueryValues } from './messages.js';

class ListQuery {
  @IsOptional()
  @IsBoolean()
  verbose: boolean = false;

  @IsOptional()
  @Clamp(100)
  @Min(1)
  @IsInt()
  limit?: number;

  @IsOptional()
  @Max(9)
  @IsInt()
  depth?: number;

  @IsOptional()
  @Matches(/^[a-z]+$/, { message: 'is no cursor of this list' })
  after?: string;

  @IsOptional()
  @ArrayMinSize(2)
  jid?: string[];
}

class Replica {
  @IsOptional()
  @MaxLength(5)
  @IsString()
  PFN?: string;
}

class FileBody {
  @IsInt()
  Size!: number;

  @IsOptional()
  @IsIn(['Adler32', 'MD5'])
  ChecksumType?: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => Replica)
  @IsObject()
  Replica?: Replica;
}

const even = (text: string, key: string): number => {
  if (Number(text) % 2 === 0) return Number(text);
  throw Problem.invalidField(key, 'is odd');
};

class SumQuery {
  @ReadBy(even)
  first: number = 0;

  @ReadAllBy((texts, key) => texts.map((text) => even(text, key)))
  more?: number[];
}

class FilterQuery extends SumQuery {
  @IsOptional()
  @IsInt()
  limit?: number;

  @FreeKeys({
    takes: (key) => key.startsWith('x'),
    read: (values) => {
      const free = values as QueryValues;
      if (free.keys().length > 2) throw Problem.invalid([], 'Too many');
      return free.keys().map((key) => [key, free.all(key)]);
    },
  })
  filters: [string, string[]][] = [];
}

class FreeBody {
  @ReadBy((value: unknown) => ({ value }))
  list?: object;

  @FreeKeys({ takes: (key) => key !== 'list' && key !== 'x', read: (json) => Object.entries(json) })
  members: [string, unknown][] = [];
}

@Shape({
  ignoresUnknown: true,
  emptyIsAbsent: true,
  refuse: ([first]) =>
    new OAuthProblem('invalid_request', `The parameter ${first?.field} ${first?.problem}`),
})
class TokenForm {
  @IsString()
  grant_type!: string;
}

class LongForm {
  @IsString()
  kind!: string;

  @IsString()
  text!: string;
}

@Shape({
  ignoresUnknown: true,
  once: true,
  repeatable: ['many'],
  choose: (values) => (values.all('kind')[0] === 'long' ? LongForm : TokenForm),
})
class ChosenForm {}

function refusal(work: () => unknown): object {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, status, detail, violations } = error;
    return { code, status, detail, violations };
  }
  throw new Error('nothing was refused');
}

describe('a query class', () => {
  const read = (text: string): ListQuery => readValues(ListQuery, new QueryValues(text));

  it('knows its keys', () => {
    expect(keysOfClass(ListQuery)).toEqual(['verbose', 'limit', 'depth', 'after', 'jid']);
  });

  it('gets values of the types of its properties', () => {
    const query = read('verbose=YES&limit=7&after=abc&jid=1&jid=2');
    expect(query).toBeInstanceOf(ListQuery);
    expect({ ...query }).toEqual({ verbose: true, limit: 7, after: 'abc', jid: ['1', '2'] });
  });

  it('keeps its own values for what is left out', () => {
    expect({ ...read('') }).toEqual({ verbose: false });
  });

  it('takes what is above a clamp for the clamp', () => {
    expect(read('limit=101').limit).toBe(100);
  });

  it.each([
    ['verbose=maybe', 'verbose', 'is not one of true, false, 1, 0, yes, no'],
    ['limit=x', 'limit', 'is not a whole number'],
    ['limit=0', 'limit', 'must be at least 1'],
    ['depth=10', 'depth', 'must be at most 9'],
    ['limit=1&limit=2', 'limit', 'may be given only once'],
    ['after=A', 'after', 'is no cursor of this list'],
    ['jid=1', 'jid', 'has fewer than 2 entries'],
  ])('refuses %s', (text, field, problem) => {
    expect(refusal(() => read(text))).toEqual({
      code: 'request.invalid',
      status: 400,
      detail: `${field}: ${problem}`,
      violations: [{ field, problem }],
    });
  });

  it('names all faults at once, one a key', () => {
    expect(refusal(() => read('limit=x&after=A&verbose=2'))).toMatchObject({
      violations: [
        { field: 'verbose', problem: 'is not one of true, false, 1, 0, yes, no' },
        { field: 'limit', problem: 'is not a whole number' },
        { field: 'after', problem: 'is no cursor of this list' },
      ],
    });
  });
});

describe('a body class', () => {
  it('is made of a JSON object', () => {
    const body = readJson(FileBody, { Size: 1, Replica: { PFN: 'a' } });
    expect(body).toBeInstanceOf(FileBody);
    expect(body.Replica).toBeInstanceOf(Replica);
  });

  it('refuses unknown members, missing ones and wrong ones, inner ones by their way', () => {
    const json = { ChecksumType: null, Replica: { PFN: 'abcdef', x: 1 }, further: true };
    expect(refusal(() => readJson(FileBody, json))).toEqual({
      code: 'request.invalid',
      status: 400,
      detail:
        'further: is not known here; Size: is missing; ChecksumType: is not one of Adler32, MD5; Replica.x: is not known here; Replica.PFN: has more than 5 characters',
      violations: expect.any(Array),
    });
  });

  it.each([[[]], ['text'], [null]])('refuses %j, which is no object', (json) => {
    expect(refusal(() => readJson(FileBody, json))).toMatchObject({
      code: 'request.malformed-body',
      detail: 'The body must be a JSON object',
    });
  });
});

describe('a class that reads its values itself', () => {
  const read = (text: string): FilterQuery => readValues(FilterQuery, new QueryValues(text));

  it('has what its readers make, and gathers the keys that the rule takes', () => {
    expect({ ...read('first=2&more=4&more=6&xa=1&xb=2&xa=3&limit=7') }).toEqual({
      first: 2,
      more: [4, 6],
      limit: 7,
      filters: [
        ['xa', ['1', '3']],
        ['xb', ['2']],
      ],
    });
    expect({ ...read('') }).toEqual({ first: 0, filters: [] });
    expect(keysOfClass(FilterQuery).sort()).toEqual(['first', 'limit', 'more']);
  });

  it('hands over made objects as they are', () => {
    const made = new Map();
    class MadeQuery {
      @ReadBy(() => made)
      one?: Map<string, string>;
    }
    expect(readValues(MadeQuery, new QueryValues('one=1')).one).toBe(made);
  });

  it.each([
    [
      'first=1&more=2&more=3&limit=x',
      ['first: is odd', 'more: is odd', 'limit: is not a whole number'],
    ],
    ['more=1&more=2', ['more: is odd']],
    ['limit=1&limit=2', ['limit: may be given only once']],
  ])('names every fault of %s', (text, faults) => {
    expect(refusal(() => read(text))).toMatchObject({
      violations: expect.arrayContaining(
        faults.map((fault) => {
          const [field, problem] = fault.split(': ');
          return { field, problem };
        }),
      ),
    });
  });

  it('lets through what is wrong with all of them together', () => {
    expect(refusal(() => read('xa=1&xb=1&xc=1'))).toMatchObject({ detail: 'Too many' });
  });

  it('takes whole numbers beyond all bounds for the largest one', () => {
    expect(read('limit=99999999999999999999').limit).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('reads JSON members in the same way, whatever they are called', () => {
    const json = JSON.parse('{"list": [1, 2], "a": 1, "__proto__": 2}') as JsonObject;
    const { list, members } = readJson(FreeBody, json);
    expect(list).toEqual({ value: [1, 2] });
    expect(members).toEqual([
      ['a', 1],
      ['__proto__', 2],
    ]);
    expect(refusal(() => readJson(FreeBody, { x: 1 }))).toMatchObject({
      violations: [{ field: 'x', problem: 'is not known here' }],
    });
    const inherited = JSON.parse('{"Size": 1, "__proto__": 2}') as JsonObject;
    expect(refusal(() => readJson(FileBody, inherited))).toMatchObject({
      violations: [{ field: '__proto__', problem: 'is not known here' }],
    });
  });
});

describe('a class with a shape', () => {
  it('words its errors itself, and takes an empty value for none', () => {
    expect(refusal(() => readValues(TokenForm, new QueryValues('grant_type=')))).toMatchObject({
      detail: 'The parameter grant_type is missing',
    });
  });

  it('leaves unknown keys out', () => {
    const form = readValues(TokenForm, new QueryValues('grant_type=x&what=ever'));
    expect({ ...form }).toEqual({ grant_type: 'x' });
  });
});

describe('a form whose class is chosen by what it says', () => {
  const read = (text: string): object => readValues(ChosenForm, new QueryValues(text));

  it('is read as that class', () => {
    expect(read('kind=long&text=t&grant_type=a')).toEqual(
      Object.assign(new LongForm(), { kind: 'long', text: 't' }),
    );
    expect(read('kind=short&grant_type=a')).toBeInstanceOf(TokenForm);
    expect(refusal(() => read('kind=long'))).toMatchObject({ detail: 'text: is missing' });
  });

  it('may repeat what is named', () => {
    expect(read('kind=long&text=t&many=1&many=2')).toBeInstanceOf(LongForm);
  });

  it.each(['kind=long&kind=short', 'further=1&further=1', 'further=&further='])(
    'may say nothing twice: %s',
    (text) => {
      const [field] = text.split('=');
      expect(refusal(() => read(`text=t&${text}`))).toEqual({
        code: 'request.invalid',
        status: 400,
        detail: `${field}: may be given only once`,
        violations: [{ field, problem: 'may be given only once' }],
      });
    },
  );
});

describe('a parameter without a value', () => {
  const read = (text: string): object => readValues(TokenForm, new QueryValues(text));

  it('counts as left out, but not when it stands twice', () => {
    expect(refusal(() => read('grant_type='))).toMatchObject({
      detail: 'The parameter grant_type is missing',
    });
    expect(refusal(() => read('grant_type=&grant_type='))).toMatchObject({
      detail: 'The parameter grant_type may be given only once',
    });
  });
});

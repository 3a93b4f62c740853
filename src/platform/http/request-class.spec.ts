import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { OAuthProblem, Problem } from '#src/kernel/index.js';
import { QueryValues } from './query-values.js';
import { keysOfClass, readJson, readValues, Shape } from './request-class.js';
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

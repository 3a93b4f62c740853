import { describe, expect, it } from '@jest/globals';
import { redact } from './logger.js';

const JWT = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';

describe('redact', () => {
  it.each([
    ['a JWT anywhere', `got ${JWT} from`, 'got [hidden] from'],
    ['a JWT behind percent-encoding', `/x?y%3D${JWT}&z`, '/x?y%3D[hidden]&z'],
    ['a JWE', `${JWT}.a2V5.dGFn`, '[hidden]'],
    ['a query token', '/jobs?access_token=abc&maxJobs=1', '/jobs?access_token=[hidden]&maxJobs=1'],
    ['a code', 'code=xyz&state=q', 'code=[hidden]&state=[hidden]'],
    [
      'a signed address',
      'https://s3/b/k?X-Amz-Credential=AK%2F1&X-Amz-Signature=0f&x-id=1',
      'https://s3/b/k?X-Amz-Credential=[hidden]&X-Amz-Signature=[hidden]&x-id=1',
    ],
    ['a JSON member', '{"refresh_token":"abc","x":1}', '{"refresh_token":"[hidden]","x":1}'],
    [
      'an escaped member',
      '{\\"client_secret\\":\\"abc\\"}',
      '{\\"client_secret\\":\\"[hidden]\\"}',
    ],
    ['a header', 'Authorization: Bearer abcdef123', 'Authorization: Bearer [hidden]'],
    ['basic credentials', 'Basic YWxhZGRpbg==', 'Basic [hidden]'],
    ['a database URL', 'postgres://grid:geheim@host/db', 'postgres://grid:[hidden]@host/db'],
  ])('hides %s', (_what, line, expected) => {
    expect(redact(line)).toBe(expected);
  });

  it.each([
    ['a host name', 'https://eyJhbGciOiJFUzI1NiJ9.org/jobs'],
    ['a short part', 'eyJab.cd.ef'],
    ['an address', 'postgres://grid@host/db'],
  ])('leaves %s alone', (_what, line) => {
    expect(redact(line)).toBe(line);
  });

  it('ends with the text that a database URL stands in', () => {
    const line = JSON.stringify({
      user: ['postgres://a:', 'alice', '@'],
      url: 'postgres://a:b"c@h',
    });
    expect(redact(line)).toBe(
      String.raw`{"user":["postgres://a:","alice","@"],"url":"postgres://a:[hidden]@h"}`,
    );
  });

  it('leaves lines of the audit trail alone, whatever names in them look like', () => {
    const rest = `"path":"/vo/code=1/${JWT}","name":"Bearer abcdef123","x":"postgres://a:b@h"`;
    const line = `{"channel":"audit",${rest}}`;
    expect(redact(line)).toBe(line);
    const forged = JSON.stringify({ path: '"channel":"audit" code=xyz' });
    expect(redact(forged)).toContain('code=[hidden]');
  });

  it('leaves ordinary lines alone', () => {
    const line = '{"level":"info","path":"/jobs/17","status":200,"code":"job.not-found"}';
    expect(redact(line)).toBe(line);
  });
});

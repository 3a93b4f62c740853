import { OAuth2Token } from './oauth2-token.js';

const NOW = 1_800_000_000;
const clockAt = (seconds: number) => ({ now: () => seconds * 1000 });

describe('OAuth2Token', () => {
  it.each([
    ['nothing known', {}, undefined],
    ['expires_in', { expires_in: 100 }, NOW + 100],
    ['expires_in as text', { expires_in: '100' }, NOW + 100],
    ['expires_at', { expires_at: NOW + 5 }, NOW + 5],
    ['expires_at as text', { expires_at: `${NOW}` }, NOW],
    ['expires_at wins', { expires_at: NOW + 5, expires_in: 100 }, NOW + 5],
    [
      'a date as expires_at beside expires_in',
      { expires_at: '2027-01-01', expires_in: 9 },
      NOW + 9,
    ],
    ['expires_at 0', { expires_at: 0 }, 0],
    ['a date', { expires_at: '2030-10-10T12:00:00Z' }, undefined],
    ['a date of another kind', { expires_at: '2030-JUN-12 13:42:36' }, undefined],
    ['a list', { expires_at: [1] as never }, undefined],
    ['an object', { expires_at: { seconds: NOW } as never }, undefined],
    ['a negative number', { expires_at: -1 }, undefined],
    ['milliseconds', { expires_at: NOW * 1000 }, undefined],
    ['milliseconds as text', { expires_at: `${NOW * 1000}` }, undefined],
    ['milliseconds beside expires_in', { expires_at: NOW * 1000, expires_in: 9 }, NOW + 9],
    ['an object beside expires_in', { expires_at: {} as never, expires_in: '9' }, NOW + 9],
    ['null members', { expires_in: null, expires_at: null }, undefined],
  ])('expires_at from %s', (_name, fields, expected) => {
    const token = new OAuth2Token(fields, { clock: clockAt(NOW) });
    expect(token.expires_at).toBe(expected);
  });

  it.each([
    ['text', { expires_in: 'soon' }],
    ['a negative number', { expires_in: -1 }],
    ['text beside a date', { expires_in: 'soon', expires_at: '2030-10-10T12:00:00Z' }],
    ['an endless one', { expires_in: Infinity }],
  ])('refuses %s as expiry', (_name, fields) => {
    expect(() => new OAuth2Token(fields)).toThrow('configuration_error');
  });

  it('counts from the time the request was sent', () => {
    const token = new OAuth2Token(
      { expires_in: 10 },
      { clock: clockAt(NOW), sentAt: (NOW - 4) * 1000 },
    );
    expect(token.expires_at).toBe(NOW + 6);
  });

  it.each([
    ['unknown expiry', {}, 0, null],
    ['far away', { expires_at: NOW + 100 }, 0, false],
    ['exactly at the leeway', { expires_at: NOW + 60 }, 0, false],
    ['inside the leeway', { expires_at: NOW + 59 }, 0, true],
    ['a lifetime of 0', { expires_in: 0 }, 0, true],
    ['expires_at 0', { expires_at: 0 }, 0, true],
    ['a lifetime below the leeway: fresh', { expires_in: 59 }, 0, false],
    ['a lifetime below the leeway: past its half', { expires_in: 59 }, 30, true],
  ])('is_expired: %s', (_name, fields, later, expected) => {
    let now = NOW;
    const token = new OAuth2Token(fields, { clock: { now: () => now * 1000 } });
    now += later;
    expect(token.is_expired()).toBe(expected);
  });

  it('keeps unknown members and leaves the input alone', () => {
    const fields = { access_token: 'a', expires_in: 10, foo: { bar: 1 } };
    const copy = structuredClone(fields);
    expect({ ...new OAuth2Token(fields, { clock: clockAt(NOW) }) }).toEqual({
      ...copy,
      expires_at: NOW + 10,
    });
    expect(fields).toEqual(copy);
  });

  it('does not let data replace its operations', () => {
    const hostile = JSON.parse(
      '{"is_expired": 1, "constructor": 2, "__proto__": {"x": 1}}',
    ) as Record<string, unknown>;
    const token = new OAuth2Token(hostile);
    expect(token.is_expired()).toBeNull();
    expect(Object.keys(token)).toEqual([]);
    expect((token as { x?: number }).x).toBeUndefined();
  });
});

import { OAuthProblem } from '#src/kernel/index.js';
import { askedAudiences, audienceClaim, narrowedAudiences, refuseOthers } from './audience.js';

/** What the work answers, or the text of its refusal, which is always invalid_target. */
function outcome<T>(work: () => T): T | string {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof OAuthProblem)) throw error;
    expect([error.status, error.error]).toEqual([400, 'invalid_target']);
    return error.detail;
  }
}

const NO_URI = 'A resource is an absolute URI without a fragment';
const FORM = 'An audience must be 1 to 500 printable ASCII characters without blanks';

describe('the audiences that are asked for', () => {
  it.each<[object, unknown]>([
    [{}, undefined],
    [{ audience: [''], resource: [''] }, undefined],
    [{ audience: ['b', 'a', 'b'] }, ['b', 'a']],
    [{ audience: ['a'], resource: ['https://a', 'urn:x'] }, ['a', 'https://a', 'urn:x']],
    [{ resource: ['a'] }, NO_URI],
    [{ resource: ['/a'] }, NO_URI],
    [{ resource: ['https://a#'] }, NO_URI],
    [{ audience: ['a#b'] }, ['a#b']],
    [{ audience: ['a b'] }, FORM],
    [{ audience: ['ä'] }, FORM],
    [{ audience: ['x'.repeat(501)] }, FORM],
    [{ audience: ['x'.repeat(500)] }, ['x'.repeat(500)]],
    [{ audience: ['*'] }, '* names no service'],
    [{ audience: Array.from({ length: 21 }, (_, i) => `a${i}`) }, 'More than 20 are asked for'],
  ])('of %j', (wish, expected) => {
    expect(outcome(() => askedAudiences(wish))).toEqual(expected);
  });

  it('are refused unless they are allowed', () => {
    const refusal = 'The application may not ask for tokens for this audience';
    expect(outcome(() => refuseOthers(['a', 'b'], ['b', 'a']))).toBeUndefined();
    expect(outcome(() => refuseOthers(['a'], ['*']))).toBeUndefined();
    expect(outcome(() => refuseOthers(['a', 'c'], ['b', 'a']))).toBe(refusal);
    expect(outcome(() => refuseOthers(['a'], []))).toBe(refusal);
  });

  it('are those of the token that another comes from', () => {
    const narrowed = (asked: string[] | undefined, parent: string[], possible: string[]) =>
      outcome(() => narrowedAudiences(asked, { parent, possible }));
    const refusal = 'The subject_token or the application is not for this audience';
    expect(narrowed(undefined, ['a', 'b'], ['b', 'c'])).toEqual(['b']);
    expect(narrowed(['a'], ['a', 'b'], ['*'])).toEqual(['a']);
    expect(narrowed(['c'], ['a'], ['*'])).toBe(refusal);
    expect(narrowed(['a'], ['a'], ['b'])).toBe(refusal);
    expect(narrowed(undefined, ['a'], ['b'])).toBe(refusal);
    expect(narrowed(['c'], ['*'], ['c'])).toBe(refusal);
    expect(narrowed(['c'], ['https://wlcg.cern.ch/jwt/v1/any'], ['c'])).toEqual(['c']);
  });

  it('are a text for one and a list for several', () => {
    expect([audienceClaim(['a']), audienceClaim(['a', 'b'])]).toEqual(['a', ['a', 'b']]);
  });
});

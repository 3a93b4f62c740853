import type { ClientProfile } from '#src/registry/index.js';
import { demandsPkce, isStrict, type PkceRule } from './client-profile.js';

describe('PKCE', () => {
  it.each<[PkceRule, boolean, ClientProfile | undefined, boolean]>([
    ['off', false, undefined, false],
    ['off', false, 'interface', false],
    ['off', true, 'interface', false],
    ['off', false, 'oauth2.1', true],
    ['off', true, 'fapi2', true],
    ['public', false, undefined, true],
    ['public', true, undefined, false],
    ['public', true, 'oauth2.1', true],
    ['all', true, undefined, true],
    ['all', false, 'interface', true],
  ])(
    'with %s, confidential %s and the profile %s is demanded: %s',
    (rule, confidential, profile, expected) => {
      expect(demandsPkce({ confidential, ...(profile && { profile }) }, rule)).toBe(expected);
    },
  );
});

describe('a strict profile', () => {
  it.each<[ClientProfile | undefined, boolean]>([
    [undefined, false],
    ['interface', false],
    ['oauth2.1', true],
    ['fapi2', true],
  ])('%s: %s', (profile, expected) => {
    expect(isStrict(profile ? { profile } : {})).toBe(expected);
  });
});

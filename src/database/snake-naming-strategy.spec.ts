import { describe, expect, it } from '@jest/globals';
import { snakeCase, SnakeNamingStrategy } from './snake-naming-strategy.js';

describe('SnakeNamingStrategy', () => {
  const names = new SnakeNamingStrategy();

  it.each([
    ['kid', 'kid'],
    ['ownerGroup', 'owner_group'],
    ['publicJWK', 'public_jwk'],
    ['JWKSetAt', 'jwk_set_at'],
    ['sha256Hash', 'sha256_hash'],
    ['already_snake', 'already_snake'],
  ])('writes %s as %s', (name, written) => {
    expect(snakeCase(name)).toBe(written);
  });

  it('leaves given names alone and takes the word Entity off a class', () => {
    expect(names.tableName('SigningKeyEntity', undefined)).toBe('signing_key');
    expect(names.tableName('SigningKeyEntity', 'Keys')).toBe('Keys');
    expect(names.columnName('longestTtlSeconds', 'longest_ttl', [])).toBe('longest_ttl');
    expect(names.columnName('maxRam', undefined, ['siteNeeds'])).toBe('site_needs_max_ram');
  });

  it('names what relations need', () => {
    expect(names.joinColumnName('ownerGroup', 'name')).toBe('owner_group_name');
    expect(names.joinTableColumnName('registryGroup', 'id')).toBe('registry_group_id');
    expect(names.joinTableColumnName('registryGroup', 'id', 'groupName')).toBe(
      'registry_group_group_name',
    );
  });

  it('gives constraints and indexes the names that PostgreSQL gives', () => {
    expect(names.primaryKeyName('registry_user')).toBe('registry_user_pkey');
    expect(names.uniqueConstraintName('catalogue_name', ['kind', 'name'])).toBe(
      'catalogue_name_kind_name_key',
    );
    expect(names.foreignKeyName('public.registry_member', ['user_name'])).toBe(
      'registry_member_user_name_fkey',
    );
    expect(names.indexName('jobs', ['setup', 'jid'])).toBe('jobs_setup_jid_idx');
  });
});

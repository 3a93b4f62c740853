import { randomBytes } from 'node:crypto';
import { KeyVault, KeyVaultError } from './key-vault.js';

describe('KeyVault', () => {
  const secret = Buffer.from('a private key');
  const vault = new KeyVault(randomBytes(32));

  it('opens what it sealed, and seals differently each time', () => {
    const sealed = vault.seal('k1', secret);
    expect(vault.open('k1', sealed)).toEqual(secret);
    expect(vault.seal('k1', secret)).not.toBe(sealed);
    expect(sealed).not.toContain(secret.toString('base64'));
  });

  it('refuses another key-encryption key, another id and a changed text', () => {
    const sealed = vault.seal('k1', secret);
    const changed = `${sealed.slice(0, -4)}${sealed.endsWith('AAA=') ? 'BBB=' : 'AAA='}`;
    expect(() => new KeyVault(randomBytes(32)).open('k1', sealed)).toThrow(KeyVaultError);
    expect(() => vault.open('k2', sealed)).toThrow(KeyVaultError);
    expect(() => vault.open('k1', changed)).toThrow(KeyVaultError);
    expect(() => vault.open('k1', 'v9.AAAA')).toThrow('has no known form');
  });

  it('names the variable when the key-encryption key is missing', () => {
    const sealed = vault.seal('k1', secret);
    expect(() => new KeyVault(undefined).open('k1', sealed)).toThrow('GRID_KEY_ENCRYPTION_KEY');
  });

  it('seals what was stored without encryption once it has a key', () => {
    const plain = new KeyVault(undefined).seal('k1', secret);
    expect(vault.shouldReseal(plain)).toBe(true);
    expect(vault.open('k1', plain)).toEqual(secret);
    expect(vault.shouldReseal(vault.seal('k1', secret))).toBe(false);
    expect(new KeyVault(undefined).shouldReseal(plain)).toBe(false);
  });
});

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const PLAIN = 'plain.';
const SEALED = 'v1.';

/** What is stored sealed cannot be opened with the key-encryption key at hand. */
export class KeyVaultError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeyVaultError';
  }
}

/**
 * Seals private keys and tokens for the database: AES-256-GCM with a random nonce, bound to the row's id so that rows
 * cannot be exchanged. Without a key-encryption key they are kept as they are.
 */
export class KeyVault {
  constructor(private readonly encryptionKey: Buffer | undefined) {}

  /** The text to store. */
  seal(id: string, secret: Buffer): string {
    if (!this.encryptionKey) return PLAIN + secret.toString('base64');
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.encryptionKey, nonce);
    cipher.setAAD(Buffer.from(id));
    const text = Buffer.concat([cipher.update(secret), cipher.final()]);
    return SEALED + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
  }

  /** The secret of a stored text. Throws KeyVaultError for another key-encryption key or a changed text. */
  open(id: string, stored: string): Buffer {
    if (stored.startsWith(PLAIN)) return Buffer.from(stored.slice(PLAIN.length), 'base64');
    if (!stored.startsWith(SEALED))
      throw new KeyVaultError(`the stored secret ${id} has no known form`);
    if (!this.encryptionKey) {
      throw new KeyVaultError(
        'the secrets in the database are encrypted: set GRID_KEY_ENCRYPTION_KEY to the key they were encrypted with',
      );
    }
    const bytes = Buffer.from(stored.slice(SEALED.length), 'base64');
    const decipher = createDecipheriv('aes-256-gcm', this.encryptionKey, bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from(id));
    decipher.setAuthTag(bytes.subarray(12, 28));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
    } catch (cause) {
      throw new KeyVaultError(
        'the secrets in the database were encrypted with another key than GRID_KEY_ENCRYPTION_KEY',
        { cause },
      );
    }
  }

  /** True for a stored text that this vault would have sealed better. */
  shouldReseal(stored: string): boolean {
    return this.encryptionKey !== undefined && stored.startsWith(PLAIN);
  }
}

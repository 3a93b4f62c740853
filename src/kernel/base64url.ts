const ALPHABET = /^[A-Za-z0-9_-]*={0,2}$/;

/**
 * Decodes URL-safe base 64 (RFC 4648 §5) with optional padding to text, strictly: undefined for any other
 * alphabet, an impossible length, stray trailing bits or bytes that are no UTF-8.
 */
export function decodeBase64UrlText(encoded: string): string | undefined {
  if (!ALPHABET.test(encoded)) return undefined;
  const bare = encoded.replace(/(?<!=)=+$/, '');
  if (bare.length % 4 === 1) return undefined;
  if (encoded.length !== bare.length && encoded.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(bare, 'base64url');
  if (bytes.toString('base64url') !== bare) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Encodes text as URL-safe base 64 without padding. */
export function encodeBase64UrlText(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}

const UNSAFE = /[+/=]/g;
const SAFE: Record<string, string> = { '+': '-', '/': '_', '=': '' };

/** Bytes in URL-safe base 64 without padding (RFC 4648 §5). */
export function base64Url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(text).replace(UNSAFE, (character) => SAFE[character] ?? '');
}

/** `<directory>` or `<file>` of a catalogue path. */
export function encodePath(path: string): string {
  return base64Url(new TextEncoder().encode(path));
}

/** The catalogue path of `<directory>` or `<file>`. Throws when the text is not URL-safe base 64 of UTF-8. */
export function decodePath(encoded: string): string {
  const text = atob(
    encoded
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .replace(/(?<!=)=+$/, ''),
  );
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

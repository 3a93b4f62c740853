const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g;

/** One block of a PEM file, decoded. */
export interface PemBlock {
  label: string;
  der: Buffer;
}

/** All blocks of a PEM text, whatever stands between them. */
export function decodePem(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].map((match) => ({
    label: match[1] ?? '',
    der: Buffer.from((match[2] ?? '').replace(/\s+/g, ''), 'base64'),
  }));
}

/** A PEM block of DER bytes, lines of 64 characters. */
export function encodePem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

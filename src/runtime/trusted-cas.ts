import { readFile } from 'node:fs/promises';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';

/** The CAs of a file beside those that Node.js trusts. */
export class TrustedCas {
  private context: Promise<SecureContext> | undefined;

  constructor(private readonly file: string | undefined) {}

  /** Read once, which takes ten milliseconds; undefined without a file. Throws when it cannot be read. */
  get(): Promise<SecureContext> | undefined {
    const { file } = this;
    if (file === undefined) return undefined;
    this.context ??= readFile(file, 'utf8')
      .then((pem) => createSecureContext({ ca: [...rootCertificates, pem] }))
      .catch((error: unknown) => {
        this.context = undefined; // it may be readable the next time
        throw error;
      });
    return this.context;
  }
}

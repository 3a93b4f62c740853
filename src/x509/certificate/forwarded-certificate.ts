import { children, expectTag, readWhole, TAG } from './der.js';
import { decodePem } from './pem.js';

/** How a load balancer writes the client's certificate into a header. */
export type ForwardedCertificateForm = 'client-cert' | 'x-ssl-client-cert' | 'x-ssl-client-der';

/** The header cannot be read as that form; the message says why (it never repeats the value). */
export class ForwardedCertificateError extends Error {
  constructor(header: string, problem: string) {
    super(`header ${header}: ${problem}`);
    this.name = 'ForwardedCertificateError';
  }
}

const MAX_HEADER_CHARACTERS = 64 * 1024;
const MAX_CHAIN = 10;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The client's certificate chain from the load balancer's header, leaf first, as DER; an empty list when the
 * header is absent or empty (the client has shown none).
 * `client-cert`: RFC 9440, with `Client-Cert-Chain` beside it · `x-ssl-client-cert`: nginx's
 * `$ssl_client_escaped_cert`, percent-encoded PEM · `x-ssl-client-der`: base 64 of the DER (HAProxy).
 * Only the shape is checked here; the certificates are verified like those of a handshake. Throws
 * ForwardedCertificateError.
 */
export function parseForwardedCertificate(
  form: ForwardedCertificateForm,
  value: string | undefined,
  chainValue?: string,
): Buffer[] {
  const text = value?.trim() ?? '';
  if (text === '') {
    if (form === 'client-cert' && chainValue?.trim()) {
      throw new ForwardedCertificateError('client-cert-chain', 'stands without client-cert');
    }
    return [];
  }
  if (text.length > MAX_HEADER_CHARACTERS) throw new ForwardedCertificateError(form, 'is too long');
  switch (form) {
    case 'client-cert':
      return [byteSequence('client-cert', text), ...chainOf(chainValue)];
    case 'x-ssl-client-cert':
      return escapedPem(form, text);
    case 'x-ssl-client-der':
      return [certificateBytes(form, text)];
  }
}

function chainOf(value: string | undefined): Buffer[] {
  const header = 'client-cert-chain';
  const text = value?.trim() ?? '';
  if (text === '') return [];
  if (text.length > MAX_HEADER_CHARACTERS)
    throw new ForwardedCertificateError(header, 'is too long');
  const members = text.split(',').map((member) => member.trim());
  if (members.length > MAX_CHAIN) {
    throw new ForwardedCertificateError(header, `holds more than ${MAX_CHAIN} certificates`);
  }
  return members.map((member) => byteSequence(header, member));
}

/** RFC 9651 §3.3.5: colon, base 64, colon; no parameters are defined for these headers. */
function byteSequence(header: string, text: string): Buffer {
  const match = /^:([A-Za-z0-9+/=]*):$/.exec(text);
  if (match?.[1] === undefined) {
    throw new ForwardedCertificateError(header, 'is no byte sequence (:base64:) of RFC 9440');
  }
  return certificateBytes(header, match[1]);
}

function escapedPem(header: string, text: string): Buffer[] {
  let pem: string;
  try {
    pem = decodeURIComponent(text);
  } catch {
    throw new ForwardedCertificateError(header, 'is not percent-encoded text');
  }
  const blocks = decodePem(pem);
  if (blocks.length === 0 || blocks.some((block) => block.label !== 'CERTIFICATE')) {
    throw new ForwardedCertificateError(header, 'is no PEM certificate');
  }
  if (blocks.length > MAX_CHAIN) {
    throw new ForwardedCertificateError(header, `holds more than ${MAX_CHAIN} certificates`);
  }
  return blocks.map((block) => certificateBytes(header, block.der.toString('base64')));
}

/** Decodes base 64 strictly and looks that it is one certificate: SEQUENCE { SEQUENCE, SEQUENCE, BIT STRING }. */
function certificateBytes(header: string, base64: string): Buffer {
  if (base64 === '' || !BASE64.test(base64)) {
    throw new ForwardedCertificateError(header, 'is not base 64');
  }
  const der = Buffer.from(base64, 'base64');
  try {
    const [tbs, algorithm, signature] = children(readWhole(der, TAG.sequence));
    expectTag(tbs, TAG.sequence);
    expectTag(algorithm, TAG.sequence);
    expectTag(signature, TAG.bitString);
  } catch (error) {
    const problem = `holds no certificate (${(error as Error).message})`;
    throw new ForwardedCertificateError(header, problem);
  }
  return der;
}

import { X509Certificate } from 'node:crypto';
import { issueCertificate } from '../issuing/certificate-issuer.js';
import {
  parseForwardedCertificate,
  type ForwardedCertificateForm,
} from './forwarded-certificate.js';

let pem: string;
let der: Buffer;
let base64: string;

describe('parseForwardedCertificate', () => {
  beforeAll(async () => {
    pem = (await issueCertificate({ subject: '/CN=alice', purpose: 'client' })).certificatePem;
    der = new X509Certificate(pem).raw;
    base64 = der.toString('base64');
  });

  it('reads Client-Cert and its chain (RFC 9440)', () => {
    const chain = `:${base64}: ,  :${base64}:`;
    expect(parseForwardedCertificate('client-cert', `:${base64}:`)).toEqual([der]);
    expect(parseForwardedCertificate('client-cert', ` :${base64}: `, chain)).toEqual([
      der,
      der,
      der,
    ]);
  });

  it('reads the escaped PEM of nginx', () => {
    const escaped = encodeURIComponent(pem);
    expect(parseForwardedCertificate('x-ssl-client-cert', escaped)).toEqual([der]);
  });

  it('reads base 64 DER', () => {
    expect(parseForwardedCertificate('x-ssl-client-der', base64)).toEqual([der]);
  });

  it.each(['client-cert', 'x-ssl-client-cert', 'x-ssl-client-der'] as const)(
    'takes an absent or empty %s for no certificate',
    (form) => {
      expect(parseForwardedCertificate(form, undefined)).toEqual([]);
      expect(parseForwardedCertificate(form, '')).toEqual([]);
    },
  );

  const faults: [ForwardedCertificateForm, () => string, string][] = [
    ['client-cert', () => base64, 'is no byte sequence (:base64:) of RFC 9440'],
    ['client-cert', () => `:${base64}:;a=1`, 'is no byte sequence (:base64:) of RFC 9440'],
    ['client-cert', () => ':a*b:', 'is no byte sequence (:base64:) of RFC 9440'],
    ['client-cert', () => '::', 'is not base 64'],
    ['client-cert', () => ':YWJj:', 'holds no certificate'],
    ['client-cert', () => `:${base64}${base64}:`, 'is not base 64|holds no certificate'],
    ['x-ssl-client-cert', () => '%zz', 'is not percent-encoded text'],
    ['x-ssl-client-cert', () => 'alice', 'is no PEM certificate'],
    [
      'x-ssl-client-cert',
      () => encodeURIComponent(pem.replaceAll('CERTIFICATE', 'PUBLIC KEY')),
      'is no PEM certificate',
    ],
    ['x-ssl-client-der', () => base64.slice(0, -8), 'holds no certificate'],
    ['x-ssl-client-der', () => base64.replace(/^./, '-'), 'is not base 64'],
    ['x-ssl-client-der', () => 'A'.repeat(70_000), 'is too long'],
  ];
  it.each(faults)('refuses a bad %s', (form, value, problem) => {
    expect(() => parseForwardedCertificate(form, value())).toThrow(
      new RegExp(`^header ${form}: (${problem.replace(/[()]/g, '\\$&')})`),
    );
  });

  it('refuses a chain without a certificate', () => {
    expect(() => parseForwardedCertificate('client-cert', '', `:${base64}:`)).toThrow(
      'header client-cert-chain: stands without client-cert',
    );
  });
});

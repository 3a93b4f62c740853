import * as v from './variables.js';

/** Of TLS 1.2 those that RFC 9325 §4.2 recommends, and FAPI 2.0 §5.2.2 with it. */
const DEFAULT_CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/** Certificates of the service and of its clients, and the load balancers before it. */
export const TLS = {
  tlsCertificate: v.optional('GRID_TLS_CERT', 'PEM file of the server certificate with its chain', {
    defaultText: 'issued by the development CA',
  }),
  tlsKey: v.optional('GRID_TLS_KEY', 'PEM file of the server key', {
    defaultText: 'issued by the development CA',
  }),
  tlsMode: v.oneOf(
    'GRID_TLS',
    ['on', 'off'],
    'on',
    '`off`: plain HTTP listener for use behind a load balancer',
  ),
  tlsCiphers: v.text(
    'GRID_TLS_CIPHERS',
    DEFAULT_CIPHERS,
    "Cipher suites of TLS 1.2 and 1.3 in OpenSSL's notation; the default has of TLS 1.2 those that RFC 9325 recommends",
  ),
  trustedCa: v.optional(
    'GRID_TRUSTED_CA',
    'Directory in the grid layout (`*.0`, `*.pem`, `*.r0`, `*.signing_policy`, `*.namespaces`) or bundle file of the CAs whose client certificates are accepted',
    { defaultText: 'the development CA' },
  ),
  trustedCaRefresh: v.integer('GRID_TRUSTED_CA_REFRESH', 5, {
    min: 1,
    max: 3600,
    description: 'Seconds between looks for changed CAs and CRLs',
  }),
  allowProxyCertificates: v.flag(
    'GRID_ALLOW_PROXY_CERTIFICATES',
    false,
    'Accept RFC 3820 proxy certificates for their end entity; limited ones submit no jobs',
  ),
  trustedProxies: v.list(
    'GRID_TRUSTED_PROXIES',
    'Addresses and CIDR ranges of load balancers whose certificate header and `X-Forwarded-*` are believed',
  ),
  clientCertHeader: v.oneOf(
    'GRID_CLIENT_CERT_HEADER',
    ['client-cert', 'x-ssl-client-cert', 'x-ssl-client-der'],
    'client-cert',
    'Form of the forwarded certificate: RFC 9440, escaped PEM (nginx), base64 DER',
  ),
};

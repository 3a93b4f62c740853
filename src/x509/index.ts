export { canonicalDn } from './certificate/distinguished-name.js';
export {
  ForwardedCertificateError,
  parseForwardedCertificate,
} from './certificate/forwarded-certificate.js';
export { ensureDevelopmentPki, type DevelopmentPki } from './issuing/development-ca.js';
export { TrustedAuthorities, type TrustLog } from './trust/trusted-authorities.js';

/** How and when somebody signed in, as ID tokens say it (OpenID Connect Core §2). */
export interface Authentication {
  /** `auth_time` */
  at: Date;
  /** `acr`: one of AUTHENTICATION_CLASSES. */
  acr: string;
  /** `sid`: names the session of the browser without opening it. */
  sid: string;
}

const CLASSES = 'urn:oasis:names:tc:SAML:2.0:ac:classes';

/** How somebody signed in → the authentication context class that says so (SAML 2.0 Authentication Context §3.4). */
export const AUTHENTICATION_CLASSES = {
  certificate: `${CLASSES}:TLSClient`,
  // what the provider has asked for is the provider's business
  provider: `${CLASSES}:unspecified`,
} as const;

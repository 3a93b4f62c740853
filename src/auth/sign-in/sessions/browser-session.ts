/** How somebody signed in. */
export type LoginMethod = 'certificate' | 'provider';

/** A browser on the pages of the service; without user until somebody signs in. */
export interface BrowserSession {
  /** SHA-256 of the cookie's value. */
  idHash: string;
  user: string | null;
  method: LoginMethod | null;
  /** Goes into every form; a form without it was not made by us (RFC 6749 §10.12). */
  csrfToken: string;
  createdAt: Date;
  expiresAt: Date;
}

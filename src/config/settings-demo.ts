import * as v from './variables.js';

/** What is there to try the service out. */
export const DEMO = {
  demo: v.optionalFlag(
    'GRID_DEMO',
    'Load demo users, sites and catalogue',
    '`true` when neither `DATABASE_URL` nor `GRID_REGISTRY` is set',
  ),
  demoSignIn: v.optional(
    'GRID_DEMO_SIGN_IN',
    'Key of the link with which a browser may sign in as a user of the demo, without a certificate: set by `npm run demo` alone, refused in production, beyond loopback and beside a registry of your own',
    { secret: true, defaultText: 'nobody may' },
  ),
};

import { encoded, type Place } from './place.js';

/** Where the things of a place are, for one operation each. */
export const job = (rest: string) => (place: Place) => ({ path: `/jobs/${place.jid}${rest}` });
export const array = (rest: string) => (at: Place) => ({ path: `/jobs/arrays/${at.array}${rest}` });
export const webhook = (rest: string, json?: object) => (place: Place) => ({
  path: `/webhooks/${place.webhook}${rest}`,
  ...(json && { options: { json } }),
});
export const directory = (rest: string, json?: object) => (place: Place) => ({
  path: `/filecatalogue/directory/${encoded(place.directory)}${rest}`,
  ...(json && { options: { json } }),
});
export const file = (rest: string, json?: object) => (place: Place) => ({
  path: `/filecatalogue/file/${encoded(place.file)}${rest}`,
  ...(json && { options: { json } }),
});

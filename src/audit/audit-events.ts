/** The closed list of what the audit trail records: event → meaning and the details that its lines carry. */
export const AUDIT_EVENTS = {
  'user.signed-in': {
    text: 'A browser was signed in by certificate or identity provider, or not (`code`; `subject` at the provider)',
    details: ['way', 'provider', 'subject'],
  },
  'user.signed-out': { text: 'A browser was signed out by request', details: [] },
  'token.issued': {
    text: 'An access token was given to `client` for `user`, or refused with `code`; `grantType` `job`: to the running job of `jids`, also each time it is renewed',
    details: ['grantType', 'tokenId', 'scope', 'jids'],
  },
  'token.revoked': {
    text: 'A token was revoked by request; `kind` `job`: all that the runs of `jids` were given, which are over',
    details: ['kind', 'tokenId', 'consent', 'jids'],
  },
  'refresh.reused': {
    text: 'A used refresh token came again after its grace: its whole family was revoked',
    details: ['consent'],
  },
  'code.reused': {
    text: 'An authorization code came again: what was issued from it was revoked',
    details: ['consent'],
  },
  'consent.given': {
    text: 'A user allowed an application to act; `way` `again`: as before, without being asked',
    details: ['way'],
  },
  'consent.denied': { text: 'A user refused an application', details: ['way'] },
  'consent.withdrawn': { text: 'A user withdrew what an application was allowed', details: [] },
  'job.submitted': {
    text: 'Jobs were submitted; neither dry runs nor repeats of an Idempotency-Key are',
    details: ['jobs', 'jids', 'arrayId'],
  },
  'job.read': {
    text: 'What is not open to everybody was read of jobs of others, by JobMonitor or JobAdministrator',
    details: ['what', 'jobs', 'jids', 'owner', 'arrayId'],
  },
  'job.killed': {
    text: 'Jobs were killed',
    details: ['jids', 'arrayId', 'killed', 'refused', 'purge'],
  },
  'job.held': { text: 'A waiting job was held back', details: ['jids'] },
  'job.released': { text: 'A held job was released', details: ['jids'] },
  'job.rescheduled': {
    text: 'Jobs were sent back to the queue',
    details: ['jids', 'arrayId', 'jobs'],
  },
  'catalogue.file-registered': { text: 'A file was registered', details: ['path', 'created'] },
  'catalogue.access-given': {
    text: 'Addresses of files at storage elements were given, with tokens that open them there; neither stands here; `paths`: the first 20',
    details: ['right', 'files', 'paths', 'ses'],
  },
  'catalogue.bytes-removed': {
    text: 'The service has removed bytes from a storage element that belong to no file',
    details: ['path', 'se'],
  },
  'catalogue.content-given': {
    text: 'Bytes of a file were given, or a signed address of them, which does not stand here',
    details: ['path', 'se'],
  },
  'catalogue.deleted': { text: 'A file or directory was removed', details: ['kind', 'path'] },
  'catalogue.directory-set': {
    text: 'A directory was made, or given another mode',
    details: ['path'],
  },
  'catalogue.metadata-set': {
    text: 'Metadata of a file or directory was changed',
    details: ['kind', 'path'],
  },
  'catalogue.removal-given-up': {
    text: 'Bytes at a storage element are not removed any more: they stay where they are',
    details: ['path', 'se'],
  },
  'catalogue.field-declared': { text: 'A metadata field was declared', details: ['name', 'type'] },
  'catalogue.bulk': {
    text: 'Many changes in one request: registrations, deletions, owners and modes; `deleted` are among `updated`; the rest of an `interrupted` one was not applied',
    details: ['lines', 'created', 'updated', 'deleted', 'unchanged', 'failed', 'interrupted'],
  },
  'webhook.added': { text: 'A receiver of changes was named', details: ['webhook'] },
  'webhook.changed': { text: 'A webhook was changed, stopped or resumed', details: ['webhook'] },
  'webhook.removed': { text: 'A webhook was removed', details: ['webhook'] },
  'webhook.secret-changed': { text: 'A webhook was given a new secret', details: ['webhook'] },
  'webhook.tested': { text: 'A test message was sent to a receiver', details: ['webhook'] },
  'webhook.replayed': {
    text: 'A message was sent to a receiver again',
    details: ['webhook', 'delivery'],
  },
  'webhook.disabled': {
    text: 'The service has disabled a webhook: its rights are gone or withdrawn, or its deliveries failed too long',
    details: ['webhook', 'reason'],
  },
  'registry.changed': {
    text: 'Users, groups, setups, sites or applications were changed or loaded from a file, or a site was drained or resumed',
    details: ['changes'],
  },
  'site.secret-added': {
    text: 'A secret was made with which workers enrol at a site',
    details: ['site', 'secret', 'reusable'],
  },
  'site.secret-revoked': {
    text: 'Secrets of a site were revoked, and `workers` that had shown them are gone',
    details: ['site', 'secrets', 'workers'],
  },
  'worker.registered': {
    text: 'A program became a worker of a site, or was refused',
    details: ['worker', 'site', 'name', 'secret'],
  },
  'worker.drained': {
    text: 'A worker is given no runs any more',
    details: ['worker', 'site', 'name'],
  },
  'worker.removed': {
    text: 'A worker is gone; `way` `itself`: it has ended, else `command` or `request`',
    details: ['worker', 'site', 'name', 'way'],
  },
  'client.added': { text: 'An application was registered by an administrator', details: ['name'] },
  'client.removed': { text: 'An application was removed by an administrator', details: [] },
  'audit.read': {
    text: 'The audit trail was searched over the network or by command',
    details: ['filters', 'events'],
  },
  'keys.rotated': {
    text: 'Another signing key takes over; `way` `command`, `request` or `schedule`',
    details: ['kid', 'activeFrom', 'way'],
  },
} as const satisfies Record<string, { text: string; details: readonly string[] }>;

/** An event of the closed list. */
export type AuditEvent = keyof typeof AUDIT_EVENTS;

const EVENTS = Object.keys(AUDIT_EVENTS) as AuditEvent[];

/** The events that a word means: itself, or for `job.*` all that begin so; empty for a word that means none. */
export function auditEventsOf(word: string): AuditEvent[] {
  if (!word.endsWith('*')) return EVENTS.filter((event) => event === word);
  return EVENTS.filter((event) => event.startsWith(word.slice(0, -1)));
}

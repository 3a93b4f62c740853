export type { AuditEventEntity } from './audit-event.entity.js';
export { AuditEventsRepository, type AuditSearch } from './audit-events.repository.js';
export { AUDIT_EVENTS, auditEventsOf } from './audit-events.js';
export { AuditKeeper } from './audit-keeper.js';
export { AuditTrailModule } from './audit-trail.module.js';
export { AuditWriter } from './audit-writer.js';
export {
  Audit,
  type AuditActor,
  type AuditDetails,
  type AuditOrigin,
  type AuditSetting,
} from './audit.js';
export { Audited } from './audited.decorator.js';

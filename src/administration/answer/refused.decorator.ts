import { Audited, type AUDIT_EVENTS, type AuditDetails } from '#src/audit/index.js';
import type { HttpRequest } from '#src/http/index.js';

/** Records that a change was refused: the service that makes it records that it was made. */
export function AuditedRefusal(
  event: keyof typeof AUDIT_EVENTS,
  detailsOf: (params: Record<string, string>) => AuditDetails,
): MethodDecorator {
  const details = ({ params }: HttpRequest): AuditDetails =>
    detailsOf(params as Record<string, string>);
  return Audited(event, details, { isRefusalsOnly: true });
}

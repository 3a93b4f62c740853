import { Audited, type AUDIT_EVENTS, type AuditDetails } from '#src/platform/index.js';

/** Records that a change was refused: the service that makes it records that it was made. */
export function AuditedRefusal(
  event: keyof typeof AUDIT_EVENTS,
  detailsOf: (params: Record<string, string>) => AuditDetails,
): MethodDecorator {
  return Audited<object>(event, ({ params }, answer) =>
    answer === undefined ? detailsOf(params as Record<string, string>) : undefined,
  );
}

import type { IncomingMessage } from 'node:http';
import { Problem } from '#src/kernel/index.js';
import { clientAddressOf, labelsOf, requestIdOf } from '#src/http/index.js';
import type { Logger, Metrics } from '#src/runtime/index.js';
import { AUDIT_EVENTS, type AuditEvent } from './audit-events.js';

/** What an event says beside who did it; the names are those of AUDIT_EVENTS. Never tokens, secrets or bodies. */
export type AuditDetails = Record<string, unknown>;

/** On whose behalf, where the labels of the request do not say it. */
export interface AuditActor {
  user?: string;
  group?: string;
  setup?: string;
  client?: string;
}

/** What every line says beside its own, and where lines are kept beside the log. */
export interface AuditSetting {
  /** For example the account that runs a command. */
  origin?: AuditDetails;
  keep?: (line: AuditLine) => void;
}

/** A line of the trail with all its fields. */
export type AuditLine = AuditDetails & { event: AuditEvent; outcome: string };

/** By whom and where something was done. */
export interface AuditOrigin {
  request?: IncomingMessage;
  actor?: AuditActor;
}

const ACTOR = ['user', 'group', 'setup', 'client', 'claimedClient'] as const;

/**
 * The audit trail: one log line for each thing that somebody did or was refused, with `"channel":"audit"` and fields
 * that stay (docs/audit.md). It is written whatever the log level is, unless that is `silent`.
 */
export class Audit {
  private readonly lines: Logger;
  private readonly events;

  constructor(
    logger: Logger,
    metrics: Metrics,
    private readonly setting: AuditSetting = {},
  ) {
    const { origin } = setting;
    const level = logger.level === 'silent' ? 'silent' : 'info';
    this.lines = logger.child({ channel: 'audit', ...origin }, { level });
    this.events = metrics.counter(
      'gridgate_audit_events_total',
      'Lines of the audit trail by event and outcome',
      ['event', 'outcome'],
    );
  }

  /** Records that something was done, by the bearer of the request or by `actor`. */
  done(event: AuditEvent, details: AuditDetails, { request, actor }: AuditOrigin = {}): void {
    this.write(event, { outcome: 'done', ...originOf(request), ...actor, ...details });
  }

  /** Records that it was refused, with the code of the problem; faults of the service are not refusals. */
  refused(
    event: AuditEvent,
    details: AuditDetails,
    request: IncomingMessage,
    error: unknown,
  ): void {
    if (!(error instanceof Problem) || error.status >= 500) return;
    const { code } = error;
    this.write(event, { outcome: 'refused', code, ...originOf(request), ...details });
  }

  private write(event: AuditEvent, line: AuditDetails & { outcome: string }): void {
    this.events.inc({ event, outcome: line.outcome });
    this.lines.info({ event, ...line }, AUDIT_EVENTS[event].text);
    this.setting.keep?.({ ...this.setting.origin, event, ...line });
  }
}

function originOf(request: IncomingMessage | undefined): AuditDetails {
  if (!request) return {};
  const labels = labelsOf(request);
  const actor = ACTOR.filter((name) => labels[name] !== undefined);
  return {
    requestId: requestIdOf(request),
    address: clientAddressOf(request),
    ...Object.fromEntries(actor.map((name) => [name, labels[name]])),
  };
}

import { FullLog } from './full-log.js';
import type { Answer, Grid } from './testbed.js';

const VARYING = ['level', 'channel', 'time', 'address', 'requestId', 'msg', 'event'];

/** The audit trail of a server, read from its log. */
export class AuditTrail {
  readonly log: FullLog;

  constructor(grid: Grid) {
    this.log = new FullLog(grid);
  }

  /** The line that the request of this answer has left, without what differs each time. */
  async lineOf(
    answer: Answer,
    event: string,
    address = '127.0.0.1',
  ): Promise<Record<string, unknown>> {
    const id = answer.headers['x-request-id'];
    const line = await this.log.line((one) => one['requestId'] === id && one['event'] === event);
    expect(line).toMatchObject({ level: 'info', channel: 'audit', address });
    expect(Date.parse(String(line['time']))).toBeGreaterThan(0);
    return Object.fromEntries(Object.entries(line).filter(([name]) => !VARYING.includes(name)));
  }

  /** The events of these answers; the lines of earlier requests are there when that of the last one is. */
  eventsOf(...answers: Answer[]): unknown[] {
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    return this.log
      .lines()
      .filter((line) => line['channel'] === 'audit' && ids.includes(line['requestId']))
      .map((line) => line['event']);
  }
}

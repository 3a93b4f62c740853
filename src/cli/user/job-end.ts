import { failureAdvice } from '#src/client/index.js';
import type { GridConnection } from './grid-connection.js';

/** How a job has ended. */
export interface JobEnd {
  jid: number;
  status: string;
  minorStatus: string;
  appStatus: string;
  /** Absent where its program did not end by itself, or never began. */
  exitCode?: number;
  /** Who or what ended it. */
  by: string;
  /** What helps, of a job that has failed. */
  advice?: string;
}

/** How a job that has ended did so. */
export async function endOf({ client }: GridConnection, jid: number): Promise<JobEnd> {
  const [job, parameters, { history }] = await Promise.all([
    client.getJob(jid),
    client.getJobParameters(jid),
    client.getJobHistory(jid),
  ]);
  const { status, minorStatus, appStatus } = job;
  const { ExitCode: code } = parameters;
  return {
    ...{ jid, status, minorStatus, appStatus },
    ...(typeof code === 'number' && status !== 'Killed' && { exitCode: code }),
    by: history.findLast((move) => move.status === status)?.source ?? '',
    ...(status === 'Failed' && { advice: failureAdvice(minorStatus) }),
  };
}

/** The end for people: what has become of it, why, and where to look. */
export function linesOf({ jid, status, minorStatus, appStatus, ...end }: JobEnd): string[] {
  const detail = appStatus === 'Unknown' ? minorStatus : `${minorStatus}: ${appStatus}`;
  const { by, exitCode, advice } = end;
  const [logs, describe] = [`\`gridgate logs -e ${jid}\` and `, `\`gridgate describe ${jid}\``];
  return [
    `${jid} has ended as ${status}${status === 'Killed' ? `, by ${by}` : ` (${detail})`}`,
    ...(exitCode === undefined ? [] : [`exit code: ${exitCode}`]),
    ...(advice === undefined ? [] : [advice]),
    ...(status === 'Failed' ? [`look at ${exitCode === undefined ? '' : logs}${describe}`] : []),
  ];
}

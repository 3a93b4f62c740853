/** Statements of jobs without the part that logs what they move (`logEvents`): the floor of what the log costs. */
const LOG = /\), told as \(\s*insert into event_log[^]*?having count\(\*\) > 0\s*\)/;

/** The statement without its log; throws when it has none. */
export function withoutLog(statement) {
  if (!LOG.test(statement)) throw new Error('the statement has no part that logs');
  return statement.replace(LOG, ')');
}

/** The statement without its log when it has one. */
export const withoutAnyLog = (statement) => statement.replace(LOG, ')');

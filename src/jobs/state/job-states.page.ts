import { classOf, JOB_STATE_NAMES, JOB_STATES } from './job-state.js';
import { JOB_TRANSITIONS } from './job-transitions.js';

/** The text of docs/job-states.md: states, classes, diagram and table, from the tables in the code. */
export function renderJobStates(): string {
  const states = JOB_STATE_NAMES.map(
    (name) => `| ${name} | \`${classOf(name)}\` | ${JOB_STATES[name]} |`,
  );
  const arrows = JOB_TRANSITIONS.map(({ from, to }) => `  ${from} --> ${to}`);
  const rows = JOB_TRANSITIONS.map(
    ({ from, to, by, why }) => `| ${from} | ${to} | ${by.join(', ')} | ${why} |`,
  );
  return [
    '# States of a job',
    '',
    'Generated from `src/jobs/state/job-state.ts` and `src/jobs/state/job-transitions.ts`.',
    'Every move is written by `JobsRepository.move`, which checks this table and the old state in one statement,',
    'and leaves a row in the history (`GET /jobs/<jid>/history`). A move that is not listed does not happen.',
    '',
    '| State | Class | Meaning |',
    '|---|---|---|',
    ...states,
    '',
    '```mermaid',
    'stateDiagram-v2',
    ...arrows,
    '```',
    '',
    '| From | To | Moved by | Why |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

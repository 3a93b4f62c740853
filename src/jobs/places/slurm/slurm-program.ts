import type { RunOrder } from '../../run/executor.js';
import { inputDataVariables } from '../../run/input-data.js';
import { resourceVariables } from '../../run/run-plan.js';

/** The program of a job for the wrapper: an uploaded file, or what the node finds by path or name. */
export function programOf(order: RunOrder): { executable: string; isUploaded: boolean } {
  const given = order.manifest['Executable'];
  const name = typeof given === 'string' ? given : '';
  const listed = order.manifest['InputSandbox'] ?? [];
  const files: readonly unknown[] = Array.isArray(listed) ? listed : [listed];
  const uploaded = name.replace(/^\.\//, '');
  const isUploaded = files.includes(uploaded);
  return { executable: isUploaded ? uploaded : name, isUploaded };
}

/** What every payload finds in its environment, beside Slurm's own variables. */
export function variablesOf(
  order: RunOrder,
  place: { path: string; user: string; work: string },
): Record<string, string> {
  return {
    ...inputDataVariables(order, place.work),
    PATH: place.path,
    LANG: 'C.UTF-8',
    USER: place.user,
    LOGNAME: place.user,
    SHELL: '/bin/sh',
    JOBID: String(order.jid),
    GRID_JOBID: String(order.jid),
    GRID_SITE: order.site,
    GRID_SETUP: order.setup,
    GRID_OWNER: order.owner,
    GRID_OWNER_GROUP: order.ownerGroup,
    ...resourceVariables(order),
  };
}

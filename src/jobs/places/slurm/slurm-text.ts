import type { SlurmJob } from './slurm-api.js';
import { SlurmError, type SlurmFault } from './slurm-error.js';
import type { BatchUse, UseOf } from './slurm-use.js';

/** Format of squeue: what may hold anything stands last. Its times are read as UTC. */
export const QUEUE_FORMAT = '%A|%F|%K|%T|%U|%u|%P|%B|%r|%S|%k';
/** Columns of sacct. */
export const USE_COLUMNS =
  'JobIDRaw,JobID,User,State,End,ElapsedRaw,TotalCPU,MaxRSS,AllocCPUS,AllocTRES';

const QUEUE_FIELDS = 10;

/** Reads what `squeue --array` writes in QUEUE_FORMAT. Lines of another form are left out. */
export function jobsInQueue(text: string): SlurmJob[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.split('|');
    const [id = '', arrayId = '', index = '', state = '', uid = ''] = fields;
    const isJob =
      fields.length > QUEUE_FIELDS && [id, arrayId, uid].every((one) => /^\d+$/.test(one));
    if (!isJob) return [];
    const [user = '', partition = '', node = '', reason = '', start = ''] = fields.slice(
      5,
      QUEUE_FIELDS,
    );
    const comment = fields.slice(QUEUE_FIELDS).join('|');
    return [
      {
        jobId: Number(id),
        arrayId: Number(arrayId),
        index: /^\d+$/.test(index) ? Number(index) : undefined,
        waitingIndices: /^\d+$|^N\/A$/.test(index) ? '' : index,
        ...{ state, reason, user, partition },
        uid: Number(uid),
        startMs: Date.parse(`${start}Z`) || undefined,
        node: node === 'n/a' ? '' : node,
        comment: comment === '(null)' ? '' : comment,
      },
    ];
  });
}

/** The id that `sbatch --parsable` writes: `7`, or `7;cluster`; undefined for anything else. */
export function submittedId(text: string): number | undefined {
  const match = /^(\d{1,10})(?:;\S+)?$/.exec(text.trim());
  return match === null ? undefined : Number(match[1]);
}

/** Words of faults that pass by themselves, and of those between the commands and the controller. */
const PASSING =
  /unable to contact|temporar|timed out|zero bytes|stand-?by|connection|communicat|inactive or drained|down, drained|busy|being (?:updated|modified|altered)|disabled|authenticat|munge|credential|plugin|slurm\.conf|configless|resolve|unspecified/i;
const BY_WORDS: readonly (readonly [RegExp, SlurmFault])[] = [
  [/invalid job id/i, 'unknown-job'],
  [/already complet|has finished|job is complet/i, 'ended'],
  [/accounting storage is disabled/i, 'refused'],
  [PASSING, 'away'],
  [/access\/permission denied/i, 'denied'],
  [/batch job submission failed|unrecognized option|invalid|unknown option/i, 'refused'],
];

/** What a command that failed means; Slurm's words are all that there is, and what is not known may pass. */
export function errorOfCommand(program: string, stderr: string): SlurmError {
  const lines = stderr.split('\n').map((line) => line.trim());
  const said = lines
    .filter((line) => line !== '')
    .map((line) => line.replace(/^\w+: (?:error: )?/, ''));
  const text = said.join('; ').slice(0, 300) || `${program} says nothing`;
  const fault = BY_WORDS.find(([words]) => words.test(text))?.[1] ?? 'away';
  return new SlurmError(fault, text, 0);
}

/** Reads `sacct --parsable2` with USE_COLUMNS; undefined as `useIn` says. */
export function useInAccounting(text: string, of: UseOf): BatchUse | undefined {
  const rows = text.split('\n').map((line) => line.split('|'));
  const { jobId, arrayId, index, account } = of;
  const name = index === undefined ? String(arrayId) : `${arrayId}_${index}`;
  const job = rows.find(
    ([raw, id, user]) => raw === String(jobId) && id === name && user === account,
  );
  if (job === undefined) return undefined;
  const steps = rows.filter(([raw = '']) => raw.startsWith(`${jobId}.`));
  if (steps.length === 0 || [job, ...steps].some(([, , , , end]) => !isTime(end))) return undefined;
  const cpuSeconds = steps.reduce((sum, step) => sum + secondsOf(step[6]), 0);
  const maxRssBytes = Math.max(0, ...steps.map((step) => bytesOf(step[7])));
  if (cpuSeconds === 0 && maxRssBytes === 0) return undefined;
  const memory = bytesOf(/(?:^|,)mem=([^,]+)/.exec(job[9] ?? '')?.[1]) / 2 ** 20;
  return {
    wallSeconds: Number(job[5]) || 0,
    cpuSeconds: Math.round(cpuSeconds * 1000) / 1000,
    processors: Number(job[8]) || 1,
    ...(maxRssBytes > 0 ? { maxRssBytes } : {}),
    ...(memory > 0 ? { memoryMb: memory } : {}),
  };
}

function isTime(text = ''): boolean {
  return /^\d{4}-/.test(text);
}

/** `[days-][hours:]minutes:seconds[.milliseconds]`. */
function secondsOf(text = ''): number {
  const match = /^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(text);
  if (match === null) return 0;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/** `12K`, `1.5G`. */
function bytesOf(text = ''): number {
  const match = /^(\d+(?:\.\d+)?)([KMGTP]?)$/.exec(text);
  if (match === null) return 0;
  return Math.round(Number(match[1]) * 1024 ** ' KMGTP'.indexOf(match[2] || ' '));
}

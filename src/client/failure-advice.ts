/** What helps, by the minor status with which jobs fail. */
const ADVICE: Record<string, string> = {
  'Application Finished With Errors':
    'The program itself ended with an error: its last words say more. Mend the program or its arguments, then submit it again.',
  'Application not found':
    'The site does not know the program. Send it along as an input file, or choose another site.',
  'Job has reached the CPU limit of the queue':
    'Ask for more processor time (CPUTime), or give it less to do.',
  'Job has exceeded maximum wall clock time':
    'Ask for more time (WallTime), or give it less to do.',
  'Job has exceeded maximum memory': 'Ask for more memory (MaxRAM), or let it hold less at once.',
  'Job has insufficient disk space to continue':
    'It wrote more than the site allows: let it write less, or remove what it does not need.',
  'Job has exceeded maximum number of processes': 'Let it start fewer processes at once.',
  'Input Data Not Available': 'A file of the catalogue that it names is not there, or not yours.',
  'Uploading Output Sandbox':
    'Not all of its output could be kept: the parameter OutputLeftOut names what was left out. Let it write less, or ask for fewer files (OutputSandbox). The same again would end the same way.',
  'Dependency failed': 'A job that it had to wait for did not end as it should: look at that one.',
  'Job stalled: pilot not running':
    'The place where it ran is gone. Nothing is known to be wrong with the job: retry it.',
};
const USUAL_ADVICE =
  'If nothing is wrong with the job itself, retry it; else mend it and submit it again.';

/** What to do about a job that has failed with that minor status. */
export function failureAdvice(minorStatus: string): string {
  return Object.hasOwn(ADVICE, minorStatus) ? (ADVICE[minorStatus] as string) : USUAL_ADVICE;
}

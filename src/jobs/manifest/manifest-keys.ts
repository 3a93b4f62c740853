/** Manifest keys with a meaning (reference 3.1). Every other key is kept and echoed. */
export const MANIFEST_KEYS = [
  'Executable',
  'Arguments',
  'StdOutput',
  'StdError',
  'InputSandbox',
  'OutputSandbox',
  'InputData',
  'InputDataPolicy',
  'InputDataModule',
  'OutputData',
  'OutputPath',
  'OutputSE',
  'Site',
  'Sites',
  'BannedSite',
  'BannedSites',
  'GridCE',
  'SubmitPools',
  'Platform',
  'Tags',
  'CPUTime',
  'Priority',
  'JobName',
  'JobGroup',
  'JobType',
  'NumberOfProcessors',
  'MinNumberOfProcessors',
  'MaxNumberOfProcessors',
  'MinRAM',
  'MaxRAM',
  'WallTime',
  'GPUs',
  'JobConfigArgs',
  'LogLevel',
  'ExecutionEnvironment',
  'SoftwareDistModule',
  'Parameters',
  'ParameterStart',
  'ParameterStep',
  'ParameterFactor',
  'Owner',
  'OwnerGroup',
  'OwnerDN',
  'VirtualOrganization',
  'Setup',
  'JobID',
  'JobRequirements',
] as const;

/** Spellings of sample programs that are taken for the key, with a warning. */
export const KEY_ALIASES: ReadonlyMap<string, string> = new Map([
  ['StdOut', 'StdOutput'],
  ['StdErr', 'StdError'],
]);

const KNOWN: ReadonlySet<string> = new Set(MANIFEST_KEYS);
const FOLDED: ReadonlyMap<string, string> = new Map(
  [...MANIFEST_KEYS, ...KEY_ALIASES.keys()].map((key) => [fold(key), KEY_ALIASES.get(key) ?? key]),
);

/** True for keys with a meaning, named sequences of parametric jobs (`Parameters.x`) included. */
export function isKnownKey(key: string): boolean {
  return KNOWN.has(key) || /^Parameter(s|Start|Step|Factor)\.[\w-]+$/.test(key);
}

/** The key that somebody who wrote `key` probably meant; undefined when nothing is near. */
export function nearestKey(key: string): string | undefined {
  const folded = fold(key);
  const same = FOLDED.get(folded);
  if (same !== undefined) return same;
  if (folded.length < 4) return undefined;
  for (const [candidate, known] of FOLDED) {
    if (Math.abs(candidate.length - folded.length) <= 1 && isOneEditAway(candidate, folded)) {
      return known;
    }
  }
  return undefined;
}

function fold(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** One letter added, lost, changed, or two neighbours swapped. */
function isOneEditAway(left: string, right: string): boolean {
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  const a = left.slice(start);
  const b = right.slice(start);
  if (a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1)) return true;
  return (
    a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2)
  );
}

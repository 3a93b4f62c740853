import type { JsonObject } from '#src/kernel/index.js';
import { readManifest, type ManifestContext } from './manifest.js';

const context: ManifestContext = {
  user: 'alice',
  dn: '/CN=alice',
  group: 'grid_user',
  setup: 'Prod',
  vo: 'vo',
  sites: new Set(['A', 'B', 'C']),
  siteList: ['A', 'B', 'C'].map((name) => ({
    name,
    backend: 'slurm',
    options: {},
    processors: name === 'C' ? 16 : 8,
  })),
  files: [],
  maxInputData: 3,
  storageElements: new Set<string>(),
};

const read = (manifest: JsonObject, more: Partial<ManifestContext> = {}) =>
  readManifest({ Executable: '/bin/true', ...manifest }, { ...context, ...more });

const faults = (manifest: JsonObject, more: Partial<ManifestContext> = {}) =>
  read(manifest, more).violations;

describe('readManifest', () => {
  it('keeps what was given with its types and adds what the service knows', () => {
    const { job, violations, warnings } = read({
      Arguments: '-a 1,2',
      Sites: ['A'],
      CPUTime: 3600,
      Extra: { deep: [1, null] },
    });
    const detail = 'Extra is not known and has no effect';
    const warning = { code: 'manifest.unknown-key', detail, pointer: '/Extra' };
    expect({ violations, warnings }).toEqual({ violations: [], warnings: [warning] });
    expect(job.manifest).toEqual({
      Executable: '/bin/true',
      Arguments: '-a 1,2',
      Sites: ['A'],
      CPUTime: 3600,
      Extra: { deep: [1, null] },
      StdOutput: 'std.out',
      StdError: 'std.err',
      OutputSandbox: ['std.out', 'std.err'],
      Owner: 'alice',
      OwnerGroup: 'grid_user',
      OwnerDN: '/CN=alice',
      VirtualOrganization: 'vo',
      Setup: 'Prod',
      JobName: 'Name',
      JobGroup: '00000000',
      JobType: 'User',
      Priority: 1,
    });
    expect(job).toMatchObject({ cpuTime: 3600, priority: 1, sites: ['A'], bannedSites: [] });
  });

  it.each<[string, JsonObject, { field: string; problem: string }]>([
    ['no program', { Executable: '' }, { field: 'Executable', problem: 'is empty' }],
    [
      'a program that is no text',
      { Executable: 7 },
      { field: 'Executable', problem: 'must be a text' },
    ],
    [
      'arguments of another type',
      { Arguments: 7 },
      { field: 'Arguments', problem: 'must be a text or a list of texts' },
    ],
    [
      'an open quote',
      { Arguments: '"a' },
      { field: 'Arguments', problem: 'has a quote or backslash without its end' },
    ],
    [
      'a site that has no name of one',
      { Sites: ['a b'] },
      { field: 'Sites', problem: 'a b: is not the name of a site' },
    ],
    [
      'an unknown ban',
      { BannedSites: ['X'] },
      { field: 'BannedSites', problem: 'X: is not a known site' },
    ],
    [
      'a program that only the prototype has',
      JSON.parse('{"Executable": "", "__proto__": {"Executable": "/bin/true"}}') as JsonObject,
      { field: 'Executable', problem: 'is empty' },
    ],
    [
      'Site and Sites that differ',
      { Site: 'A', Sites: ['B'] },
      { field: 'Site', problem: 'differs from Sites' },
    ],
    [
      'bans that leave nothing of the wanted',
      { Sites: ['A'], BannedSites: ['A'] },
      { field: 'BannedSites', problem: 'leaves no site on which the job may run' },
    ],
    [
      'bans that leave nothing at all',
      { BannedSite: ['A', 'B', 'C'] },
      { field: 'BannedSite', problem: 'leaves no site on which the job may run' },
    ],
    [
      'too little CPU',
      { CPUTime: 99 },
      { field: 'CPUTime', problem: 'must be between 100 and 500000' },
    ],
    [
      'a fraction',
      { CPUTime: 100.5 },
      { field: 'CPUTime', problem: 'must be a whole number of seconds' },
    ],
    [
      'a high priority',
      { Priority: 11 },
      { field: 'Priority', problem: 'must be between 0 and 10' },
    ],
    [
      'a long name',
      { JobName: 'x'.repeat(129) },
      { field: 'JobName', problem: 'is longer than 128 characters' },
    ],
    [
      'a long group',
      { JobGroup: 'x'.repeat(33) },
      { field: 'JobGroup', problem: 'is longer than 32 characters' },
    ],
    [
      'an unknown type',
      { JobType: 'Other' },
      { field: 'JobType', problem: 'must be one of User, Test, Hospital' },
    ],
    [
      'a path as output',
      { StdOutput: '../x' },
      { field: 'StdOutput', problem: 'must be a plain file name without a path' },
    ],
    [
      'an output outside',
      { OutputSandbox: ['/etc/passwd'] },
      { field: 'OutputSandbox', problem: '/etc/passwd: must be below the directory of the job' },
    ],
    [
      'a file that was not uploaded',
      { InputSandbox: 'in.txt' },
      { field: 'InputSandbox', problem: 'in.txt: no such file was uploaded' },
    ],
    [
      'a sandbox reference',
      { InputSandbox: ['SB:x|/y'] },
      { field: 'InputSandbox', problem: 'SB:x|/y: sandbox references cannot be handed in' },
    ],
    [
      'input data of another organisation',
      { InputData: ['LFN:/other/x'] },
      { field: 'InputData', problem: 'LFN:/other/x: must lie under /vo/' },
    ],
    [
      'input data that is no path',
      { InputData: ['x'] },
      { field: 'InputData', problem: 'x: must start with / or LFN:/' },
    ],
    [
      'too much input data',
      { InputData: ['/vo/a', '/vo/b', '/vo/c', '/vo/d'] },
      { field: 'InputData', problem: 'has 4 files, at most 3 are allowed' },
    ],
    [
      'a foreign owner',
      { Owner: 'bob' },
      { field: 'Owner', problem: 'is set by the service and differs from the token' },
    ],
    [
      'processors the wrong way round',
      { MinNumberOfProcessors: 4, MaxNumberOfProcessors: 2 },
      { field: 'MaxNumberOfProcessors', problem: 'is less than MinNumberOfProcessors' },
    ],
    [
      'an environment that is none',
      { ExecutionEnvironment: ['A'] },
      {
        field: 'ExecutionEnvironment',
        problem: 'must be an object, or a list of texts NAME=value',
      },
    ],
    [
      'a NUL character',
      { JobName: 'a\0' },
      { field: 'JobName', problem: 'contains a NUL character' },
    ],
    ['nothing for Hold', { Hold: null }, { field: 'Hold', problem: 'must be true or false' }],
    ['a word for Hold', { Hold: 'yes' }, { field: 'Hold', problem: 'must be true or false' }],
    ['half a letter', { Note: '\ud800' }, { field: 'Note', problem: 'is not valid Unicode' }],
    [
      'deep nesting',
      { Note: [[[[[[[[[1]]]]]]]]] },
      { field: 'Note', problem: 'is nested deeper than 8 levels' },
    ],
  ])('refuses %s', (_what, manifest, violation) => {
    expect(faults(manifest)).toEqual([violation]);
  });

  it('lists every fault, not only the first', () => {
    const found = readManifest(
      { Sites: ['a b'], CPUTime: 1, Priority: 'high' },
      context,
    ).violations;
    expect(found.map(({ field }) => field)).toEqual(['Executable', 'Sites', 'Priority', 'CPUTime']);
  });

  it.each([
    ['a single site as a text', { Site: 'A' }, ['A']],
    ['both spellings when they agree', { Site: 'A', Sites: ['A'] }, ['A']],
    ['ANY', { Sites: 'ANY' }, []],
    ['wanted sites without the banned ones', { Sites: ['A', 'B'], BannedSites: 'B' }, ['A']],
    ['an empty list', { Sites: [], BannedSites: [] }, []],
  ] as const)('understands %s', (_what, manifest, sites) => {
    const { job, violations } = read(manifest as unknown as JsonObject);
    expect(violations).toEqual([]);
    expect(job.sites).toEqual(sites);
  });

  it('takes numbers that are written as texts', () => {
    expect(read({ CPUTime: '3600', Priority: '7' }).job).toMatchObject({
      cpuTime: 3600,
      priority: 7,
      manifest: { CPUTime: '3600', Priority: '7' },
    });
  });

  it('adds uploaded files that are not listed', () => {
    const { job } = read({ InputSandbox: 'a.txt' }, { files: ['a.txt', 'é.txt'] });
    expect(job.manifest['InputSandbox']).toEqual(['a.txt', 'é.txt']);
  });

  it('reads StdOut as StdOutput and says so', () => {
    const { job, warnings } = read({ StdOut: 'out.log' });
    expect(warnings).toEqual([
      { code: 'manifest.alias', detail: 'StdOut is read as StdOutput', pointer: '/StdOut' },
    ]);
    expect(job.manifest).toMatchObject({
      StdOutput: 'out.log',
      OutputSandbox: ['out.log', 'std.err'],
    });
    expect(job.manifest).not.toHaveProperty('StdOut');
  });

  it('refuses a lower-case program with a hint', () => {
    expect(readManifest({ executable: '/bin/true' }, context).violations).toEqual([
      { field: 'executable', problem: 'is not known; did you mean Executable?' },
      { field: 'Executable', problem: 'is missing' },
    ]);
  });

  it.each([
    ['cputime', 'CPUTime'],
    ['Job_Name', 'JobName'],
    ['Prioritiy', 'Priority'],
    ['OutputSanbox', 'OutputSandbox'],
  ])('warns of %s, which is probably %s', (key, meant) => {
    expect(read({ [key]: 1 })).toMatchObject({
      violations: [],
      warnings: [
        {
          code: 'manifest.unknown-key',
          detail: `${key} is not known and has no effect; did you mean ${meant}?`,
          pointer: `/${key}`,
        },
      ],
    });
  });

  it.each(['Nonsense', 'x', '', '__proto__', 'constructor'])('warns of the unknown %j', (key) => {
    const raw = Object.fromEntries([
      ['Executable', 'true'],
      [key, 1],
    ]) as JsonObject;
    const { violations, warnings } = readManifest(raw, context);
    const detail = `${key} is not known and has no effect`;
    expect(violations).toEqual([]);
    expect(warnings).toEqual([{ code: 'manifest.unknown-key', detail, pointer: `/${key}` }]);
  });

  it.each([
    ['Container', /sites say what they have by Tags$/],
    ['docker_image', /sites say/],
    ['image', /sites say/],
    ['ContainerImage', /sites say/],
    ['Nodes', /^a job runs on one node/],
    ['number-of-nodes', /NumberOfProcessors/],
    ['mpi', /Parameters$/],
    ['TasksPerNode', /Parameters$/],
    ['Runtime', /Executable/],
    ['script', /Executable/],
    ['Interactive', /follow=true/],
  ])('refuses %s and says what works instead', (key, instead) => {
    const { violations, warnings } = read({ [key]: 'x' });
    const expected = {
      field: key,
      problem: 'is not offered here',
      instead: expect.stringMatching(instead) as string,
    };
    expect([violations, warnings]).toEqual([[expected], []]);
  });

  it.each<[string, JsonObject, string[], unknown]>([
    ['OutputSandbox', { OutputSandbox: 'std.out, std.err' }, [], ['std.out', 'std.err']],
    ['OutputSandbox', { OutputSandbox: 'a,b,,' }, [], ['a', 'b']],
    ['OutputSandbox', { OutputSandbox: 'one.root' }, [], 'one.root'],
    ['OutputSandbox', { OutputSandbox: 'a, b.txt' }, ['a, b.txt'], 'a, b.txt'],
    ['OutputSandbox', { OutputSandbox: ['a, b.txt'] }, [], ['a, b.txt']],
    ['InputSandbox', { InputSandbox: 'a.txt,b.txt' }, ['a.txt', 'b.txt'], ['a.txt', 'b.txt']],
    ['InputSandbox', { InputSandbox: 'a,b' }, ['a,b'], ['a,b']],
    ['Sites', { Sites: 'A, B' }, [], ['A', 'B']],
    ['Tags', { Tags: 'el9,gpu' }, [], ['el9', 'gpu']],
    ['BannedSites', { BannedSites: 'A,B' }, [], ['A', 'B']],
  ])('splits the text of %s at commas: %j, uploaded %j', (key, raw, files, expected) => {
    const { job, violations } = read(raw, { files });
    expect([violations, job.manifest[key]]).toEqual([[], expected]);
  });

  it('keeps a comma in InputData', () => {
    const { job } = read({ InputData: 'LFN:/vo/a,b' });
    expect(job.inputData).toEqual(['/vo/a,b']);
  });

  it('says that the id of a job does not come into its name', () => {
    const detail = '%j stays as it is in JobName, which is set before the job has its id';
    expect(read({ JobName: 'run-%j' }).warnings).toEqual([
      { code: 'manifest.no-effect', detail, pointer: '/JobName' },
    ]);
  });

  it.each([
    ['Sites', 'A'],
    ['Site', undefined],
  ])('warns of an unknown site in %s', (key, known) => {
    const { job, violations, warnings } = read({ [key]: known === undefined ? 'X' : [known, 'X'] });
    expect(violations).toEqual([]);
    const detail =
      'No site can hold the job now (there is none of those it may run on for its setup and virtual organisation)';
    expect(warnings).toEqual([
      {
        code: 'manifest.unknown-site',
        detail: 'X is not a known site; the job does not run there',
        pointer: `/${key}`,
      },
      ...(known === undefined ? [{ code: 'manifest.no-site', detail, pointer: '' }] : []),
    ]);
    expect(job.sites).toEqual(known === undefined ? ['X'] : [known, 'X']);
  });

  it('warns when no site can hold the job, and says why', () => {
    const warningsOf = (manifest: JsonObject) => read(manifest).warnings;
    expect(warningsOf({ NumberOfProcessors: 16 })).toEqual([]);
    expect(warningsOf({ NumberOfProcessors: 16, Sites: ['A', 'B'] })).toEqual([
      {
        code: 'manifest.no-site',
        detail: 'No site can hold the job now (A: It has 8 processors; B: It has 8 processors)',
        pointer: '',
      },
    ]);
    expect(warningsOf({ GPUs: 1, BannedSites: ['A', 'B'] })).toEqual([
      {
        code: 'manifest.no-site',
        detail: 'No site can hold the job now (C: It has 0 GPUs)',
        pointer: '',
      },
    ]);
  });

  it('tells beside faults of keys that were probably meant otherwise', () => {
    expect(faults({ CPUTime: 'two hours', Memory: 500, Note: 'x' })).toEqual([
      { field: 'CPUTime', problem: 'must be a whole number of seconds' },
      { field: 'Memory', problem: 'is not known and has no effect; did you mean MaxRAM?' },
    ]);
    expect(faults({ Memory: 500 })).toEqual([]);
  });

  it.each([
    [true, true],
    [false, false],
    [undefined, false],
  ])('reads Hold %s', (Hold, hold) => {
    expect(read(Hold === undefined ? {} : { Hold }).job.hold).toBe(hold);
  });

  it('takes nothing from a key called __proto__', () => {
    const raw = JSON.parse('{"__proto__": {"Executable": "/bin/true"}}') as JsonObject;
    expect(readManifest(raw, context).violations).toEqual([
      { field: 'Executable', problem: 'is missing' },
    ]);
  });

  it('leaves unknown keys alone', () => {
    const { job } = read({ MyOwnKey: [1, 2n, 'x'] });
    expect(job.manifest['MyOwnKey']).toEqual([1, 2n, 'x']);
  });

  it('takes the LFN: of input data away', () => {
    expect(read({ InputData: ['LFN:/vo/a', '/vo/b'] }).job.inputData).toEqual(['/vo/a', '/vo/b']);
  });
});

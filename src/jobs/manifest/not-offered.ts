/** Keys of neighbours that change what would run, with their other spellings, and what works instead. */
export const NOT_OFFERED = [
  {
    keys: ['Container', 'ContainerImage', 'Image', 'DockerImage'],
    instead:
      'upload the program with its libraries, or name one that a site has; sites say what they have by Tags',
  },
  {
    keys: ['Nodes', 'NumberOfNodes', 'TasksPerNode', 'MPI'],
    instead:
      'a job runs on one node: ask for its processors by NumberOfProcessors, or submit several jobs with Parameters',
  },
  {
    keys: ['Runtime', 'Script'],
    instead:
      'upload the script and name it in Executable; its first line (#!) names the interpreter',
  },
  {
    keys: ['Interactive'],
    instead:
      'jobs run in the queue; GET /jobs/<jid>/output/<name>?follow=true shows what one prints',
  },
];

const ADVICE: ReadonlyMap<string, string> = new Map(
  NOT_OFFERED.flatMap(({ keys, instead }) => keys.map((key) => [fold(key), instead] as const)),
);

/** What works instead of a key that is not offered, however it is written; undefined for every other key. */
export function insteadOf(key: string): string | undefined {
  return ADVICE.get(fold(key));
}

/** A key without its case and without what separates its words. */
export function fold(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

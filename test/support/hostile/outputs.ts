import { CANARY } from './job-requests.js';

/** A job that leaves something nasty where its output is collected, and what must come of it. */
export interface HostileOutput {
  what: string;
  script: string;
  wanted: string[];
  status: 'Done' | 'Failed';
  /** Names in the output sandbox, sorted. */
  files: string[];
}

const NODE = process.execPath;

/**
 * Jobs of /bin/sh; `secret` is a file of the service, `foreign` one that is not the jobs' own: the same where jobs have
 * an account of their own (a service started by root).
 */
export function hostileOutputs(secret: string, foreign: string): HostileOutput[] {
  const done = (
    what: string,
    script: string,
    wanted: string[],
    files: string[] = [],
  ): HostileOutput => ({
    what,
    script,
    wanted,
    files: [...files].sort(),
    status: 'Done',
  });
  return [
    done(
      'links to files',
      `ln -s ${secret} a; ln -s /etc/passwd b; ln -s a c`,
      ['a', 'b', 'c', '*'],
      ['std.out', 'std.err'],
    ),
    done('links to directories', 'ln -s /etc d; ln -s / e; mkdir f; ln -s /etc f/g', [
      'd',
      'd/passwd',
      'e/etc/passwd',
      'f',
      'f/g/passwd',
      'd/*',
      'e/*/passwd',
    ]),
    done('loops of links', 'ln -s x y; ln -s y x; ln -s . z', ['x', 'x/a', 'y/b', 'z/z/z', 'z/*']),
    done('a hard link to a file of somebody else', `ln /etc/passwd h || ln ${foreign} h; true`, [
      'h',
    ]),
    done('pipes', 'mkfifo p; mkfifo q; chmod 000 q', ['p', 'q']),
    done(
      'a pipe and a link where its outputs will lie',
      'mkfifo std.out; ln -s /etc/passwd std.err',
      ['std.out', 'std.err'],
      ['std.err', 'std.out'],
    ),
    done(
      'a socket',
      `${NODE} -e 'require("net").createServer().listen("s",()=>process.exit())' || true`,
      ['s'],
    ),
    done('names below files', 'echo x > plain', ['plain/x', 'plain/*', 'plain'], ['plain']),
    done('names that are too long', ':', [`${'d/'.repeat(3_000)}x`]),
    done(
      'strange names',
      `touch -- 'a
b' 'c\\d' ' ' '-rf' '"q"' "$(printf 'bad\\377utf')" '%2e%2e'`,
      ['*'],
      ['a\nb', 'c\\d', ' ', '-rf', '"q"', '%2e%2e', 'std.err', 'std.out'],
    ),
    done(
      'a very deep directory',
      `p=${Array(300).fill('deep_deep').join('/')}; mkdir -p $p; for i in 1 2 3 4; do mkdir -p a/$p; mv deep_deep a/$p; mv a/deep_deep .; done`,
      ['deep_deep'],
    ),
    done(
      'directories that nobody may read',
      'mkdir -p l/m; echo x > l/m/n; chmod 000 l/m l',
      ['l'],
      process.getuid?.() === 0 ? ['l/m/n'] : [],
    ),
    done('many files', 'mkdir m; i=0; while [ $i -lt 3000 ]; do : > m/$i; i=$((i+1)); done', [
      'nothing',
    ]),
    done(
      'files beside its directory',
      `echo x > ../${CANARY} || echo x > ../../${CANARY} || true`,
      ['../x'.slice(3)],
    ),
    {
      what: 'a giant without bytes',
      script:
        'dd if=/dev/zero of=sparse bs=1 count=1 seek=50000000 2>/dev/null; echo small > small',
      wanted: ['sparse', 'small'],
      status: 'Failed',
      files: ['small'],
    },
    {
      what: 'a giant beyond the limit of files',
      script: 'exec dd if=/dev/zero of=sparse bs=1 count=1 seek=8000000000000 2>/dev/null',
      wanted: ['sparse'],
      status: 'Failed',
      files: ['sparse'],
    },
  ];
}

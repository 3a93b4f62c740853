import { call, perl } from './shell.mjs';

const PLAIN =
  'only plain files of the job’s own account are collected, links are kept as links and never followed';
const TRIES = 50;
/** RENAME_EXCHANGE of two names of the working directory. */
const exchange = (one, other) => call('renameat2', `-100, ${one}, -100, ${other}, 2`);
/** A child in a session of its own exchanges names for a while, when the program has long ended. */
const racing = (before) =>
  perl(
    `${before}; ($a, $b, $o, $d, $c, $e) = ("a", "b", "std.out", "d", "c", "e"); unless (fork) { setpgrp; ` +
      `for (1..9000) { ${exchange('$a', '$b')}; ${exchange('$o', '$d')}; ${exchange('$c', '$e')} } exit } ` +
      'select undef, undef, undef, 0.01',
  );

/** What a program leaves for those who collect its output and remove its directory. */
export const OUTPUT = [
  {
    thing: 'put a link in the place of its output',
    sentence:
      'its standard output lies outside of its directory; links are kept as links and never followed',
    script: ({ home }) =>
      `rm -f std.out; ln -s ${home}/pki/ca.key std.out; ln -s /etc/shadow std.err`,
  },
  {
    thing: 'put a pipe or a socket in the place of its output',
    sentence: PLAIN,
    script: () =>
      `mkfifo std.out std.err pipe; ${perl('use Socket; socket($s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack("S a*", AF_UNIX, "socket"))')}`,
  },
  {
    thing: 'leave a hard link to a file of others',
    sentence:
      'nothing of others is on a mount that it may write; what is not its own is not collected',
    script: ({ home, open }) =>
      `ln ${home}/pki/ca.key stolen; ln /etc/shadow more; ln ${open.file} third; :`,
    notRun: { none: 'yes' },
  },
  {
    thing: 'leave a giant with holes',
    sentence: 'what does not fit into the sandbox is left out and named',
    script: () => 'truncate -s 50M giant; ln giant again',
  },
  {
    thing: 'leave a setuid program to others',
    sentence: 'the sandbox keeps of its mode only whether it can be executed',
    script: () => 'cp /bin/true setuid; chmod 6755 setuid',
  },
  {
    thing: 'name files so that they lead away',
    sentence:
      'names are those of entries of a directory; those that are no UTF-8 are named and left out',
    script: () =>
      "touch -- -rf '..x' ' ' \"a\nb\" \"$(printf 'bad\\377')\" '..\\..\\x' '%2e%2e%2fx'; mkdir -- -p '...'; " +
      `ln -s .. up; ln -s / top; ${perl('open $f, ">", "n" x 255')}`,
  },
  {
    thing: 'close its directory to everybody',
    sentence: 'collecting and removing ask for no more than the job’s own rights, or are root’s',
    script: () => 'mkdir -p d/e; touch d/e/f; chmod 000 d; chmod 000 .',
  },
  {
    thing: 'close its output to everybody',
    sentence: 'its name is the service’s, which opens it again',
    script: () => 'chmod 000 /proc/self/fd/1',
  },
  {
    thing: `exchange files, its output and directories with links while its output is collected and its files are removed (${TRIES} tries)`,
    sentence: 'nothing of it lives by then, and removing happens with its own rights',
    tries: TRIES,
    script: ({ home }) =>
      racing(
        'mkdir "c"; for ("a", "std.out", 1..9) { open($f, ">", /^\\d/ ? "c/ca.key$_" : $_) } ' +
          `symlink("${home}/pki/ca.key", $_) for "b", "d"; symlink("${home}/pki", "e")`,
      ),
    notRun: { none: 'yes' },
  },
];

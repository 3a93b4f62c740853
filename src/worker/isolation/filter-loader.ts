/** The number of prctl(2) by `process.arch`. */
const PRCTL: Record<string, number> = { x64: 157, arm64: 167 };

/**
 * Loads a filter of system calls into itself and becomes the program that follows: PR_SET_SECCOMP with
 * SECCOMP_MODE_FILTER and a struct sock_fprog. Its words: how to open the filter (as perl's open), what, the program.
 */
const LOADER =
  'open F, shift, shift or die "filter: $!\\n"; binmode F; read F, $f, 65536; close F; ' +
  '$p = pack("S x6 P", length($f) / 8, $f); ' +
  'syscall(PRCTL, 22, 2, $p, 0, 0) == 0 or die "filter: $!\\n"; exec { $ARGV[0] } @ARGV';

/** What of a machine without bubblewrap can load the filter: perl is there on most, and starts in a millisecond. */
export interface FilterLoader {
  perl: string;
  /** File with the filter, which every account may read. */
  file: string;
}

/**
 * Words before a command that give it the filter: read from the file, or from a descriptor that is open when the file
 * cannot be seen. The program must have `no_new_privs`.
 */
export function filtered({ perl, file }: FilterLoader, descriptor?: number): string[] {
  const from = descriptor === undefined ? ['<', file] : ['<&=', String(descriptor)];
  const code = LOADER.replace('PRCTL', String(PRCTL[process.arch]));
  return [perl, '-e', code, '--', ...from];
}

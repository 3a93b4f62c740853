/** Codes of what looks like a mistake in a manifest that is accepted. Stable; `docs/errors.md` explains them. */
export const WARNING_CODES = {
  'manifest.alias': 'Another name of a key; it is taken for the key',
  'manifest.unknown-key': 'A key without a meaning: it is kept and has no effect',
  'manifest.no-effect': 'A key or a place-holder that is kept and has no effect there',
  'manifest.value-split':
    'A value of a parameter that is split into words, or loses quotes or backslashes, in `Arguments`',
  'manifest.one-variable':
    'A text of `ExecutionEnvironment` that looks like several variables: it is one',
  'manifest.unknown-site': 'A wanted site that the setup does not have: the job does not run there',
  'manifest.no-site':
    'No site of the setup on which the job may run can hold it: it waits until one can',
  'manifest.sites-drained':
    'Every site that can hold the job is drained: it waits until one gets jobs again',
  'manifest.no-program':
    'The executable was neither uploaded nor is it found where the job would run: the job would fail',
  'manifest.script-line-ends':
    'The executable is a script with ends of lines of Windows (CRLF): the carriage return belongs to the name before it',
  'manifest.script-byte-order-mark':
    'The executable begins with a byte order mark: Linux does not see its `#!`, and `/bin/sh` would run it',
  'manifest.no-interpreter':
    'The interpreter in the `#!` line of the executable is not found where the job would run: the job would fail',
  'manifest.no-input-file':
    'An input file that the catalogue does not have, or not for the submitter: the job would fail',
  'manifest.input-not-brought':
    'An input file of which the catalogue knows no address: the job is not told where it lies',
  'manifest.output-path-shared':
    'Several jobs of a manifest store a file at one path: only the first of them can be Done',
  'manifest.token-scope':
    'A scope that the token of the job does not get: the submitter does not have it',
} as const;

/** What looks like a mistake but was accepted. */
export interface ManifestWarning {
  code: keyof typeof WARNING_CODES;
  detail: string;
  /** RFC 6901, into the manifest or, of several manifests, into `{"manifests": […]}`. */
  pointer: string;
}

/** A pointer to a key of a manifest and, where there is one, to an element of its list. */
export function pointerTo(...steps: (string | number)[]): string {
  return steps
    .map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

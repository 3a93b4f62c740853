/** The reference of the Python package, from its sources: needs python3, but none of its packages. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const PLACE = 'docs/reference/python/README.md';
const EXAMPLE = /^>>> [\s\S]*?(?:\n\n|$(?![\s\S]))/gm;
const fence = (language, text) => ['```' + language, text, '```'].join('\n');

/** Docstrings are reStructuredText of the simplest kind: paragraphs, ``code`` and examples. */
function wordsOf(text) {
  return text
    .replace(EXAMPLE, (lines) => `\n${fence('pycon', lines.trimEnd())}\n\n`)
    .replaceAll('``', '`')
    .trim();
}

function entryOf({ name, code, words, fields, members }) {
  return [
    `## ${name}`,
    '',
    fence('python', [code, ...fields.map((field) => `    ${field}`)].join('\n')),
    '',
    wordsOf(words),
    '',
    ...members.flatMap((member) => [
      `### ${name}.${member.name}`,
      '',
      fence('python', member.code),
      '',
      wordsOf(member.words),
      '',
    ]),
  ].join('\n');
}

/** `[source, text]` of the page. */
export function pythonPages(root) {
  const words = [
    join(root, 'scripts/documentation/python_reference.py'),
    join(root, 'python/src/gridgate'),
  ];
  const { status, stdout, stderr, error } = spawnSync('python3', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the Python reference needs python3: ${error ?? stderr}`);
  const entries = JSON.parse(stdout);
  const head = [
    '# Python package: reference',
    '',
    'What `import gridgate` offers. How it is used is told in [Gridgate for Python](../../../python/README.md).',
    '',
  ];
  return [[PLACE, [...head, ...entries.map(entryOf)].join('\n')]];
}

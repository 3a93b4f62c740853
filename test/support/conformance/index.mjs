/**
 * What standards demand of the service, one row each with the test that shows it: test/architecture/conformance.spec.ts looks
 * whether each test is there, and docs/conformance.md is written from the same rows (npm run generate).
 */
import { FAPI } from './fapi.mjs';
import { WLCG } from './wlcg.mjs';

export const STANDARDS = [WLCG, FAPI];

/** docs/conformance.md. */
export function conformancePage() {
  return [
    '# Conformance',
    '',
    'Generated from `test/support/conformance`; do not edit. Every MUST of these profiles that binds an issuer of tokens, and those that bind',
    'who takes them as far as our own routes do, with the tests that show it. A unit test looks for each test by its file and its title,',
    'and fails where one is missing. What is not met says why.',
    '',
    '| profile | demands | shown by tests | not met |',
    '|---|---|---|---|',
    ...STANDARDS.map(({ name, address, requirements }) => {
      const unmet = requirements.filter(({ notMet }) => notMet !== undefined).length;
      const counts = [requirements.length, requirements.length - unmet, unmet];
      return `| [${name}](${address}) | ${counts.join(' | ')} |`;
    }),
    '',
    ...STANDARDS.flatMap(sectionOf),
  ].join('\n');
}

function sectionOf({ name, about, requirements }) {
  return [
    `## ${name}`,
    '',
    ...about,
    '',
    '| § | demand | shown by |',
    '|---|---|---|',
    ...requirements.map(
      (one) => `| ${one.section} | ${cell(one.text)} | ${cell(proofOf(one)).join('<br>')} |`,
    ),
    '',
  ];
}

function proofOf({ shown = [], notMet }) {
  const tests = shown.map(({ file, title, row }) => {
    const which = row === undefined ? '' : `, row \`${row}\``;
    return `[${file.split('/').at(-1)}](../${file}): ${marked(title)}${which}`;
  });
  return notMet === undefined ? tests : [`**Not met.** ${notMet}`, ...tests];
}

/** Marks that stand for values of a table are no markup. */
const marked = (title) => title.replaceAll(/[<>*_]/g, (mark) => `\\${mark}`);
const escaped = (text) => text.replaceAll('|', '\\|');
const cell = (value) => (Array.isArray(value) ? value.map(escaped) : escaped(value));

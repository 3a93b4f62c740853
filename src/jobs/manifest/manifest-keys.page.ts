import { manifestKeys, type ManifestKey } from './manifest-keys.js';
import { NOT_OFFERED } from './not-offered.js';

/** The page `docs/manifest.md`: every key of a manifest with what its value may be. */
export function renderManifestKeys(): string {
  const rows = manifestKeys().map(([name, key]) => {
    const names = [name, ...(key.aliases ?? [])].map((each) => `\`${each}\``).join(', ');
    return `| ${names} | ${valueOf(key)} | ${key.meaning.replace(/\.$/, '')} |`;
  });
  return [
    '# Manifest of a job',
    '',
    'Generated from `src/jobs/manifest/manifest-keys.ts`; do not edit. A manifest is a JSON object, sent to `POST /jobs`. Only',
    '`Executable` is demanded. Keys that are not named here are kept and echoed, each with a warning; keys of other systems that would',
    'change what runs are refused (below). Numbers may be written as texts; one with decimals and more than 17 digits, which would',
    'become another one, is refused otherwise. A list of texts may be one text; in those of sandboxes, sites and tags a comma separates,',
    'unless a file of that whole name was uploaded.',
    '',
    '| key | value | meaning |',
    '|---|---|---|',
    ...rows,
    '',
    '## Not offered',
    '',
    '| key | instead |',
    '|---|---|',
    ...NOT_OFFERED.map(
      ({ keys, instead }) => `| ${keys.map((key) => `\`${key}\``).join(', ')} | ${instead} |`,
    ),
    '',
    ...ARRAYS,
    '',
  ].join('\n');
}

const ARRAYS = [
  '## Arrays',
  '',
  'The jobs of a parametric manifest, or of several manifests in one request, may be an array:',
  '`{"Executable": "run.sh", "Parameters": 1000, "array": true}`, `{"manifests": […], "array": true}`, or with any form of a body',
  '`POST /jobs?array=true`. `array` belongs to the request, not to a manifest: in one of several it is refused. The answer adds',
  '`arrayId`, and so does the record of each member; `arrayId` is a filter of lists, summaries, timelines and feeds like every',
  'attribute.',
  '',
  '| request | what it does |',
  '|---|---|',
  '| `GET /jobs/arrays/<arrayId>` | whose it is, how many members it has (`total`) and how many are in which state (`states`) |',
  '| `DELETE /jobs/arrays/<arrayId>` | kills every member that has not ended; `purge=true` deletes them afterwards |',
  '| `POST /jobs/arrays/<arrayId>/retry` | sends every failed member back to the queue, each at most `GRID_MAX_RESCHEDULES` times (`refused`), as far as limits of waiting jobs have room (`left`) |',
  '',
  'Kill and retry work in slices: when one is interrupted, repeat it. Rights are those of jobs.',
];

function valueOf(key: ManifestKey): string {
  switch (key.kind) {
    case 'program':
      return 'text, demanded';
    case 'arguments':
      return 'text or list of texts';
    case 'outputs':
      return 'list of texts, or of objects with name, path, se';
    case 'texts':
      return key.most === undefined ? 'list of texts' : `list of at most ${key.most} texts`;
    case 'other':
      return `like \`${key.of}\``;
    case 'file':
      return `name of a file; \`${key.fallback}\``;
    case 'integer': {
      const range = `whole number from ${key.min} to ${key.max}`;
      return key.fallback === undefined ? range : `${range}; ${key.fallback}`;
    }
    case 'flag':
      return '`true` or `false`';
    case 'label':
      return `text of at most ${key.most} characters; \`${key.fallback}\``;
    case 'word': {
      const words = key.words.map((word) => `\`${word}\``).join(', ');
      return key.fallback === undefined ? words : `${words}; \`${key.fallback}\``;
    }
    case 'environment':
      return 'object, or list of texts `NAME=value`';
    case 'token':
      return 'object: `scope` is a text, `audience` a text or list of texts';
    case 'conditions':
      return 'list of at most 1000 objects';
    case 'jobLabel':
      return 'text of at most 128 characters';
    case 'sequence':
      return 'whole number from 1, or list of texts and numbers';
    case 'own':
      return 'set by the service; another value is refused';
    case 'dropped':
      return 'set by the service; what is sent is left out';
    case 'text':
    case 'number':
      return key.kind;
  }
}

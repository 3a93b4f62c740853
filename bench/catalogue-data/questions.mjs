/**
 * What is asked of a filled catalogue, from 64 places spread over the tree: for each question the paths to request,
 * and the prepared select of as many rows as the answer has (`text`, `values`).
 */
const PLACES = 64;
const FOUND = 'select path, sub_files, sub_bytes, label from catalogue_directory';
const ENERGY = ['energy', '=|300'];
const PARTICLE = ['particle', 'in|p3,p4,p5'];

const encoded = (path) => Buffer.from(path).toString('base64url');

function places(tree) {
  return Array.from({ length: PLACES }, (_, n) => Math.floor((n * tree.blocks) / PLACES));
}

/** Paths to the 7th file of some blocks. */
function filePaths(tree, rest) {
  return places(tree).map(
    (block) => `/filecatalogue/file/${encoded(`${tree.pathOf(block)}/data-007`)}/${rest}`,
  );
}

const fileKeys = (tree) => places(tree).map((block) => [tree.blockIds[block], 'data-007']);

/** Conditions that choose the runs [first, first + size), with the further ones. */
function runs(tree, block, size, further) {
  const first = tree.runOf(block) % Math.max(1, tree.blocks - size);
  const own =
    size === 1
      ? [['run', `=|${first}`]]
      : [
          ['run', `>=|${first}`],
          ['run', `<|${first + size}`],
        ];
  return new URLSearchParams([...further, ...own]);
}

/** A question whose answer comes from about `found` directories. */
function onRuns({ name, what, size, further, found, pathOf }) {
  const conditions = further.length + (size === 1 ? 1 : 2);
  return {
    name,
    title: `${what}, ${conditions} condition${conditions === 1 ? '' : 's'}, about ${found} found`,
    floor: `prepared select of ${found} directories`,
    make: (tree) => ({
      paths: places(tree).map((block) => pathOf(runs(tree, block, size, further))),
      text: `${FOUND} where id >= $1 order by id limit ${found}`,
      values: places(tree).map((block) => [tree.blockIds[Math.min(block, tree.blocks - found)]]),
    }),
  };
}

const search = (query) => `/filecatalogue/directory/${encoded('/bench')}/search?${query}`;
const values = (query) => `/filecatalogue/metadata?${query}`;

/** All questions. The answer of each has the same size whatever the size of the catalogue. */
export const QUESTIONS = [
  {
    name: 'attributes',
    title: 'GET …/file/<f>/attributes',
    floor: 'prepared select of the row by its key',
    make: (tree) => ({
      paths: filePaths(tree, 'attributes'),
      text: 'select * from catalogue_file where directory_id = $1 and name = $2',
      values: fileKeys(tree),
    }),
  },
  {
    name: 'directory',
    title: 'GET …/directory/<d>, 50 files',
    floor: 'prepared select of the 50 rows',
    make: (tree) => ({
      paths: places(tree).map((block) => `/filecatalogue/directory/${encoded(tree.pathOf(block))}`),
      text: 'select * from catalogue_file where directory_id = $1 order by name limit 50',
      values: places(tree).map((block) => [tree.blockIds[block]]),
    }),
  },
  {
    name: 'inherited',
    title: 'GET …/file/<f>/metadata?inherited=true',
    floor: 'prepared select of the row by its key',
    make: (tree) => ({
      paths: filePaths(tree, 'metadata?inherited=true'),
      text: 'select metadata from catalogue_file where directory_id = $1 and name = $2',
      values: fileKeys(tree),
    }),
  },
  ...[
    { name: 'search-1', size: 1, further: [], found: 1 },
    { name: 'search-2', size: 1_500, further: [], found: 1_500 },
    { name: 'search-3', size: 1_500, further: [ENERGY], found: 300 },
    { name: 'search-4', size: 1_500, further: [ENERGY, PARTICLE], found: 90 },
  ].map((each) => onRuns({ ...each, what: 'search', pathOf: search })),
  {
    name: 'values',
    title: 'values, no condition, maxValues=100',
    floor: 'prepared select of 100 values',
    make: () => ({
      paths: ['/filecatalogue/metadata?maxValues=100'],
      text: `select * from catalogue_value where field_id = (select id from catalogue_field where name = 'run')
             and int_value >= 0 order by int_value limit 100`,
      values: [[]],
    }),
  },
  ...[
    { name: 'values-2', size: 300, further: [], found: 300 },
    { name: 'values-3', size: 1_500, further: [ENERGY], found: 300 },
  ].map((each) => onRuns({ ...each, what: 'values', pathOf: values })),
];

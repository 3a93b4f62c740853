/**
 * Fills an empty catalogue with a deterministic tree, straight into the tables:
 * /bench/<campaign>/<year>/<energy>/<particle>/<block>, 2,000 ways of four levels and as many blocks of 50 files as
 * it takes. `run` is different on every block and spread over the whole tree; `quality` has ten values on blocks.
 */
import pg from 'pg';

const FILES_PER_BLOCK = 50;
const CAMPAIGNS = 4;
const YEARS = 10;
const ENERGIES = 5;
const PARTICLES = 10;
const WAYS = CAMPAIGNS * YEARS * ENERGIES * PARTICLES;
const SPREAD = 7919; // prime: run = block · SPREAD mod blocks is a permutation
const FIELDS = [
  ['campaign', 'string'],
  ['year', 'int'],
  ['energy', 'int'],
  ['particle', 'string'],
  ['run', 'int'],
  ['quality', 'float'],
];

/** The tree of so many files: how many blocks it has and what stands where. */
function treeOf(files) {
  const perWay = Math.max(1, Math.round(files / FILES_PER_BLOCK / WAYS));
  const blocks = perWay * WAYS;
  const wayOf = (way) => [
    `c${Math.floor(way / (WAYS / CAMPAIGNS))}`,
    `y${2010 + (Math.floor(way / (ENERGIES * PARTICLES)) % YEARS)}`,
    `e${100 * (1 + (Math.floor(way / PARTICLES) % ENERGIES))}`,
    `p${way % PARTICLES}`,
  ];
  return {
    perWay,
    blocks,
    files: blocks * FILES_PER_BLOCK,
    runOf: (block) => (block * SPREAD) % blocks,
    pathOf: (block) => `/bench/${wayOf(Math.floor(block / perWay)).join('/')}/b${block}`,
    wayOf,
  };
}

/** Fills the catalogue of the database; answers the tree with the ids of its blocks. */
export async function fill(database, files, log) {
  const { childLabel, endOfSubtree } = await import('#src/file-catalogue/path/label.js');
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    const tree = treeOf(files);
    const fields = await declareFields(client);
    const {
      rows: [top],
    } = await client.query(
      `update catalogue_directory set next_ordinal = next_ordinal + 1 where path = '/'
       returning id, label, owner_id, group_id, next_ordinal - 1 as ordinal`,
    );
    const rows = directoriesOf(tree, top, { childLabel, endOfSubtree, fields });
    log(`${rows.directories.length} directories, ${tree.files} files …`);
    await insertDirectories(client, rows.directories);
    await insertSegments(client, rows.segments);
    await client.query('delete from catalogue_value');
    await client.query(
      `insert into catalogue_value (field_id, int_value, float_value, text_value, segments)
       select field_id, int_value, float_value, text_value, count(*) from catalogue_segment group by 1, 2, 3, 4`,
    );
    await client.query(
      'update catalogue_field f set value_count = (select count(*) from catalogue_value v where v.field_id = f.id)',
    );
    await insertFiles(client, rows.blocks, log);
    await client.query(
      'vacuum (analyze) catalogue_directory, catalogue_segment, catalogue_value, catalogue_file',
    );
    return { ...tree, firstBlockId: rows.blocks[0].id, blockIds: rows.blocks.map(({ id }) => id) };
  } finally {
    await client.end();
  }
}

async function declareFields(client) {
  const ids = {};
  for (const [name, type] of FIELDS) {
    const { rows } = await client.query(
      `insert into catalogue_field (name, type) values ($1, $2)
       on conflict (name) do update set name = excluded.name returning id`,
      [name, type],
    );
    ids[name] = rows[0].id;
  }
  return ids;
}

function directoriesOf(tree, top, { childLabel, endOfSubtree, fields }) {
  const directories = [];
  const segments = [];
  const blocks = [];
  let nextId = 1_000_000;
  const add = (parent, name, values) => {
    const ordinal = parent.children;
    parent.children += 1;
    const label = childLabel(parent.label, ordinal);
    const made = {
      id: nextId++,
      parent,
      name,
      label,
      path: `${parent.path}/${name}`,
      depth: parent.depth + 1,
      owner: top.owner_id,
      group: top.group_id,
      files: 0,
      bytes: 0n,
      children: 0,
    };
    directories.push(made);
    for (const [field, value] of Object.entries(values)) {
      segments.push({
        id: made.id,
        field: fields[field],
        lo: label,
        hi: endOfSubtree(label),
        value,
      });
    }
    return made;
  };
  const root = { id: top.id, label: top.label, path: '', depth: 0, children: top.ordinal };
  const open = [add(root, 'bench', {})];
  for (let block = 0; block < tree.blocks; block += 1) {
    const [campaign, year, energy, particle] = tree.wayOf(Math.floor(block / tree.perWay));
    const names = [campaign, year, energy, particle];
    const values = [
      { campaign },
      { year: Number(year.slice(1)) },
      { energy: Number(energy.slice(1)) },
      { particle },
    ];
    while (
      open.length > 1 &&
      names.slice(0, open.length - 1).some((name, at) => open[at + 1].name !== name)
    )
      open.pop();
    while (open.length < 5)
      open.push(add(open.at(-1), names[open.length - 1], values[open.length - 1]));
    const made = add(open[4], `b${block}`, {
      run: tree.runOf(block),
      quality: (block % 10) / 10 + 0.05,
    });
    made.files = FILES_PER_BLOCK;
    made.size = 1_000_000 + (block % 1000);
    made.bytes = BigInt(FILES_PER_BLOCK) * BigInt(made.size);
    blocks.push(made);
    for (let above = made.parent; above && above.path !== ''; above = above.parent) {
      above.files += made.files;
      above.bytes += made.bytes;
    }
  }
  return { directories, segments, blocks };
}

const AT_ONCE = 5_000;

async function insertDirectories(client, rows) {
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const part = rows.slice(from, from + AT_ONCE);
    await client.query(
      `insert into catalogue_directory (id, parent, owner_id, group_id, mode, depth, boundary, sub_files, sub_bytes,
         label, name, path, next_ordinal)
       select id, parent, owner_id, group_id, 509, depth, depth = 1, files, bytes, label, name, path, children
       from unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[], $5::smallint[], $6::bigint[],
         $7::numeric[], $8::bytea[], $9::text[], $10::text[], $11::integer[])
         w (id, parent, owner_id, group_id, depth, files, bytes, label, name, path, children)`,
      [
        part.map(({ id }) => id),
        part.map(({ parent }) => parent.id),
        part.map(({ owner }) => owner),
        part.map(({ group }) => group),
        part.map(({ depth }) => depth),
        part.map(({ files }) => files),
        part.map(({ bytes }) => String(bytes)),
        part.map(({ label }) => label),
        part.map(({ name }) => name),
        part.map(({ path }) => path),
        part.map(({ children }) => children),
      ],
    );
  }
  const [last] = rows.slice(-1);
  await client.query(`select setval('catalogue_directory_id', $1)`, [last.id]);
  const [top] = rows;
  await client.query(
    `update catalogue_directory set sub_files = sub_files + $1, sub_bytes = sub_bytes + $2::numeric where parent is null`,
    [top.files, String(top.bytes)],
  );
}

async function insertSegments(client, rows) {
  for (const [column, cast, belongs] of [
    ['int_value', 'bigint', (value) => Number.isInteger(value)],
    [
      'float_value',
      'double precision',
      (value) => typeof value === 'number' && !Number.isInteger(value),
    ],
    ['text_value', 'text', (value) => typeof value === 'string'],
  ]) {
    const ofColumn = rows.filter(({ value }) => belongs(value));
    for (let from = 0; from < ofColumn.length; from += AT_ONCE) {
      const part = ofColumn.slice(from, from + AT_ONCE);
      await client.query(
        `insert into catalogue_segment (directory_id, field_id, lo, hi, ${column})
         select * from unnest($1::integer[], $2::smallint[], $3::bytea[], $4::bytea[], $5::${cast}[])`,
        [
          part.map(({ id }) => id),
          part.map(({ field }) => field),
          part.map(({ lo }) => lo),
          part.map(({ hi }) => hi),
          part.map(({ value }) => value),
        ],
      );
    }
  }
}

async function insertFiles(client, blocks, log) {
  const step = 20_000;
  for (let from = 0; from < blocks.length; from += step) {
    const part = blocks.slice(from, from + step);
    await client.query(
      `insert into catalogue_file (directory_id, name, size, owner_id, group_id, mode, checksum, checksum_type)
       select b.id, 'data-' || lpad(n::text, 3, '0'), b.size, $3, $4, 509, lpad(to_hex(b.id * 64 + n), 8, '0'), 'Adler32'
       from unnest($1::integer[], $2::bigint[]) b (id, size), generate_series(1, ${FILES_PER_BLOCK}) n
       order by b.id, n`,
      [part.map(({ id }) => id), part.map(({ size }) => size), part[0].owner, part[0].group],
    );
    log(`${(from + part.length) * FILES_PER_BLOCK} files`);
  }
}
